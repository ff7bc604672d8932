#include "libcore/cluster/security/zap.h"

#include <signal.h>
#include <zmq.h>

#include <array>
#include <map>
#include <set>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/security/keys.h"

namespace dl::cluster {
namespace {

constexpr const char* kStop = "inproc://dl-zap-stop";
constexpr std::size_t kMostReported = 1000;  // keys

class Doorman {
 public:
  Doorman(Allowed allowed, Log log)
      : folder_(std::move(allowed.folder)), log_(std::move(log)) {
    if (folder_.empty())
      allowed_[allowed.key] = "peer";
    else
      allowed_ = read_allowed_keys(folder_);
  }

  // The name of the peer with this key, or "".
  std::string admit(const std::string& key, const std::string& address) {
    if (!allowed_.count(key) && !folder_.empty()) read_again();
    if (auto found = allowed_.find(key); found != allowed_.end())
      return found->second;
    if (reported_.size() < kMostReported && reported_.insert(key).second &&
        log_)
      log_(Level::kWarning,
           "refused " + address + ": its key " + key +
               (folder_.empty() ? " is not this run's"
                                : " is not in '" + folder_ + "/workers'"));
    return "";
  }

 private:
  // At most once a second: an unknown key must not keep the disk busy.
  void read_again() {
    double now = monotonic_seconds();
    if (now < next_read_) return;
    next_read_ = now + 1;
    try {
      allowed_ = read_allowed_keys(folder_);
    } catch (const Error& error) {
      if (log_) log_(Level::kWarning, error.what());
    }
  }

  std::string folder_;
  Log log_;
  std::map<std::string, std::string> allowed_;  // key -> name
  std::set<std::string> reported_;
  double next_read_ = 0;
};

// Frames: version, request id, domain, address, identity, mechanism, key.
void answer(zmq::socket_t& door, Doorman& doorman) {
  std::vector<zmq::message_t> request;
  do {
    request.emplace_back();
    if (!door.recv(request.back(), zmq::recv_flags::dontwait)) return;
  } while (request.back().more());
  std::string name;
  bool understood = request.size() == 7 && request[0].to_string() == "1.0" &&
                    request[5].to_string() == "CURVE" &&
                    request[6].size() == 32;
  if (understood) {
    std::array<char, 41> key{};
    zmq_z85_encode(key.data(), request[6].data<std::uint8_t>(), 32);
    name = doorman.admit(key.data(), request[3].to_string());
  }
  std::string id = request.size() > 1 ? request[1].to_string() : "";
  const std::array<std::string, 6> reply = {"1.0",
                                            id,
                                            name.empty() ? "400" : "200",
                                            name.empty() ? "unknown key" : "OK",
                                            name,
                                            ""};
  for (std::size_t i = 0; i < reply.size(); ++i)
    door.send(zmq::buffer(reply[i]), i + 1 < reply.size()
                                         ? zmq::send_flags::sndmore
                                         : zmq::send_flags::none);
}

void serve(zmq::socket_t door, zmq::socket_t stop, Doorman doorman) {
  try {
    for (;;) {
      std::array<zmq_pollitem_t, 2> items = {
          {{door.handle(), 0, ZMQ_POLLIN, 0},
           {stop.handle(), 0, ZMQ_POLLIN, 0}}};
      if (zmq_poll(items.data(), items.size(), -1) < 0) {
        if (zmq_errno() == EINTR) continue;
        return;
      }
      if (items[1].revents != 0) return;
      if (items[0].revents != 0) answer(door, doorman);
    }
  } catch (const zmq::error_t&) {
    // The context goes away.
  }
}

}  // namespace

ZapServer::ZapServer(zmq::context_t& context, Allowed allowed, Log log)
    : stop_(context, zmq::socket_type::pair) {
  Doorman doorman(std::move(allowed), std::move(log));
  zmq::socket_t door(context, zmq::socket_type::rep);
  zmq::socket_t stop(context, zmq::socket_type::pair);
  for (zmq::socket_t* socket : {&door, &stop, &stop_})
    socket->set(zmq::sockopt::linger, 0);
  door.bind("inproc://zeromq.zap.01");
  stop.bind(kStop);
  stop_.connect(kStop);
  thread_ =
      std::thread(serve, std::move(door), std::move(stop), std::move(doorman));
}

ZapServer::~ZapServer() {
  try {
    stop_.send(zmq::str_buffer("stop"), zmq::send_flags::dontwait);
  } catch (const zmq::error_t&) {
  }
  thread_.join();
}

}  // namespace dl::cluster
