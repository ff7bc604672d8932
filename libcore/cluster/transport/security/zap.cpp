#include "libcore/cluster/transport/security/zap.h"

#include <signal.h>
#include <zmq.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/transport/security/keys.h"

namespace dl::cluster {
namespace {

constexpr const char* kStop = "inproc://dl-zap-stop";
constexpr std::size_t kMostReported = 1000;  // keys
// Between two looks at the folder.  Who comes with a key that was made just now
// is refused for good if it is not seen.
constexpr double kLookSeconds = 1, kQuestionSeconds = 0.01;

class Doorman {
 public:
  Doorman(Allowed allowed, Log log, std::function<void(const Names&)> changed)
      : folder_(std::move(allowed.folder)),
        once_(std::move(allowed.once)),
        log_(std::move(log)),
        changed_(std::move(changed)) {
    if (!allowed.key.empty()) allowed_[allowed.key] = "peer";
    if (!folder_.empty()) {
      stamp_ = allowed_keys_stamp(folder_);
      allowed_ = read_allowed_keys(folder_);
    }
    changed_(allowed_);
  }

  bool admit(const std::string& key, const std::string& address) {
    if (once_(key)) return true;
    if (!allowed_.contains(key)) look(next_question_, kQuestionSeconds);
    if (allowed_.contains(key)) return true;
    if (reported_.size() < kMostReported && reported_.insert(key).second &&
        log_)
      log_(Level::kWarning,
           "refused " + address + ": its key " + key +
               (folder_.empty() ? " is not this run's"
                                : " is not in '" + folder_ + "/workers'"));
    return false;
  }

  void look() { look(next_look_, kLookSeconds); }

 private:
  // Whether the folder has other keys by now; not before `next`, for neither
  // time nor an unknown key is to keep the disk busy.
  void look(double& next, double seconds) {
    const double now = monotonic_seconds();
    if (folder_.empty() || now < next) return;
    next = now + seconds;
    const std::string stamp = allowed_keys_stamp(folder_);
    if (stamp.empty() || stamp == stamp_) return;
    stamp_ = stamp;
    Names before = std::exchange(
        allowed_, read_allowed_keys(folder_, [this](const Error& error) {
          if (log_) log_(Level::kWarning, error.what());
        }));
    if (allowed_ != before) changed_(allowed_);
  }

  std::string folder_;
  std::function<bool(const std::string&)> once_;
  Log log_;
  std::function<void(const Names&)> changed_;
  Names allowed_;
  std::string stamp_;  // of the folder when it was read
  std::set<std::string> reported_;
  double next_look_ = 0, next_question_ = 0;
};

// Frames: version, request id, domain, address, identity, mechanism, key.
void answer(zmq::socket_t& door, Doorman& doorman) {
  std::vector<zmq::message_t> request;
  do {
    request.emplace_back();
    if (!door.recv(request.back(), zmq::recv_flags::dontwait)) return;
  } while (request.back().more());
  std::string key;
  bool understood = request.size() == 7 && request[0].to_string() == "1.0" &&
                    request[5].to_string() == "CURVE" &&
                    request[6].size() == 32;
  if (understood) {
    std::array<char, 41> text{};
    zmq_z85_encode(text.data(), request[6].data<std::uint8_t>(), 32);
    std::string address = request[3].to_string();
    constexpr std::string_view kMapped = "::ffff:";  // IPv4, to such a socket
    if (address.rfind(kMapped, 0) == 0) address.erase(0, kMapped.size());
    if (doorman.admit(text.data(), address)) key = text.data();
  }
  std::string id = request.size() > 1 ? request[1].to_string() : "";
  const std::array<std::string, 6> reply = {"1.0",
                                            id,
                                            key.empty() ? "400" : "200",
                                            key.empty() ? "unknown key" : "OK",
                                            key,
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
      doorman.look();
      constexpr auto kWait = static_cast<long>(kLookSeconds * 1000);
      if (zmq_poll(items.data(), items.size(), kWait) < 0) {
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

ZapServer::ZapServer(zmq::context_t& context, Allowed allowed, Log log,
                     std::function<void(const Names&)> changed)
    : stop_(context, zmq::socket_type::pair) {
  Doorman doorman(std::move(allowed), std::move(log), std::move(changed));
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
