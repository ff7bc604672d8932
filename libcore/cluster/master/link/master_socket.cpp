#include "libcore/cluster/master/link/master_socket.h"

#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/readable.h"
#include "libcore/cluster/master/link/master_link.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/run_dir/run_files.h"
#include "libcore/cluster/transport/own_address.h"
#include "libcore/io/sink.h"

namespace dl::cluster {

void MasterSocket::open(const Sizes& sizes) {
  std::string endpoint = options_.bind;
  Security security = options_.security;
  const bool keys_given = !security.keys.empty() || security.insecure;
  const bool comes_from_elsewhere =
      keys_given || options_.network.given() || !options_.hosts_listed.empty();
  if (options_.local > 0 && endpoint.empty() && !comes_from_elsewhere)
    endpoint = local_.emplace(folder_).endpoint();
  if (!options_.hosts_listed.empty() && !keys_given)
    security.own = make_key_pair();
  if (options_.network.given())
    endpoint =
        at_own_address(endpoint.empty() ? std::string(kAnyEndpoint) : endpoint,
                       options_.network, log_);
  try {
    auto socket = std::make_unique<RouterSocket>(
        endpoint.empty() ? std::string(kAnyEndpoint) : endpoint, security,
        log_);
    socket->expect({.from = kFromWorker, .sizes = sizes, .greets = true},
                   {.from = kFromMaster, .sizes = sizes});
    socket_ = std::move(socket);
    const std::string own = socket_->endpoint(), told = endpoint_for_others();
    if (!local_)
      log_(Level::kInfo, "listening at " + own +
                             (told == own ? "" : ", to be reached at " + told));
  } catch (const Error& error) {
    if (!endpoint.empty() || error.code() != Code::kUsage) throw;
    throw Error{Code::kUsage, std::string(error.what()) +
                                  "; --local COUNT trains on this host alone"};
  }
}

std::string MasterSocket::endpoint_for_others() const {
  return options_.advertise.empty()
             ? socket_->endpoint()
             : advertised(socket_->endpoint(), options_.advertise);
}

void MasterSocket::announce() const {
  if (options_.listening) options_.listening(socket_->endpoint());
  write_file(false);
}

void MasterSocket::announce_end() const { write_file(true); }

void MasterSocket::write_file(bool finished) const {
  if (options_.master_file.empty()) return;
  Json file = {{"endpoint", endpoint_for_others()},
               {"run", run_},
               {"curve", socket_->public_key()}};
  if (finished) file["finished"] = true;
  io::write_whole(options_.master_file, dump_json(file) + "\n");
}

void MasterSocket::turn_away(double seconds) {
  const double end = monotonic_seconds() + seconds;
  Stop stop;
  stop.reason = "the run is finished";
  Envelope envelope;
  envelope.run = run_;
  while (monotonic_seconds() < end) {
    if (readable(options_.stop)) break;
    const auto incoming = socket_->receive(kPause);
    if (incoming && incoming->received.message.type == MessageType::kHello)
      socket_->send(incoming->peer, stop.to_message(), envelope);
  }
}

}  // namespace dl::cluster
