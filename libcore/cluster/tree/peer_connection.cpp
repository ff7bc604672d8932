#include "libcore/cluster/tree/peer_connection.h"

#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"

namespace dl::cluster {

PeerConnection::PeerConnection(std::string endpoint, const Security& security,
                               const Expected& expected, const Expected& sent,
                               const Log& log, Carrier carrier)
    : endpoint_(std::move(endpoint)),
      deadline_(monotonic_seconds() + kReachSeconds) {
  try {
    socket_ = std::make_unique<DealerSocket>(endpoint_, security, log,
                                             std::move(carrier));
    socket_->expect(expected, sent);
  } catch (const Error& error) {
    failure_ = error.what();
  }
}

DealerSocket& PeerConnection::socket() const {
  if (!socket_) throw Error{Code::kUnavailable, failure_};
  return *socket_;
}

bool PeerConnection::connected() {
  if (socket().connected()) return was_connected_ = true;
  if (was_connected_)
    throw Error{Code::kUnavailable, socket().damage().empty()
                                        ? "the connection is lost"
                                        : socket().damage()};
  if (monotonic_seconds() > deadline_)
    throw Error{Code::kUnavailable, socket().status()};
  return false;
}

}  // namespace dl::cluster
