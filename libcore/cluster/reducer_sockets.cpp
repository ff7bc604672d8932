#include "libcore/cluster/reducer_sockets.h"

#include <algorithm>
#include <utility>

#include "libcore/base/clock.h"

namespace dl::cluster {

namespace {

constexpr std::chrono::milliseconds kNow{0};

}  // namespace

void ReducerSockets::begin_session(Envelope envelope, Security security) {
  ways_.clear();
  envelope_ = std::move(envelope);
  security_ = std::move(security);
}

void ReducerSockets::send_to_reducer(const std::string& endpoint,
                                     SharedMessage message) {
  Way& way = ways_[endpoint];
  if (way.waiting.empty() && !way.connected)
    way.deadline = monotonic_seconds() + kReachSeconds;
  way.waiting.push_back(std::move(message));
  try {
    if (way.connected) send_waiting(way);
  } catch (const Error&) {  // serve() will see that it is lost
  }
}

void ReducerSockets::serve(Reducer& reducer) {
  std::vector<std::string> lost;
  for (auto& [endpoint, way] : ways_) {
    std::string why;
    try {
      if (!way.socket)
        way.socket = std::make_unique<DealerSocket>(endpoint, security_, log_);
      why = serve(way);
    } catch (const Error& error) {
      why = error.what();
    }
    if (why.empty()) continue;
    log_(Level::kDetail, endpoint + ": " + why);
    lost.push_back(endpoint);
  }
  for (const std::string& endpoint : lost) {
    ways_.erase(endpoint);
    reducer.lost(endpoint);
  }
}

// Returns why the way is lost, or "".
std::string ReducerSockets::serve(Way& way) {
  while (way.socket->receive(kNow)) {
  }
  if (!way.socket->connected()) {
    if (way.connected) return "the connection is lost";
    return monotonic_seconds() > way.deadline ? way.socket->status() : "";
  }
  way.connected = true;
  send_waiting(way);
  return "";
}

void ReducerSockets::send_waiting(Way& way) {
  while (!way.waiting.empty()) {
    ++envelope_.sequence;
    const std::uint64_t before = way.socket->bytes_out();
    if (!way.socket->send(*way.waiting.front(), envelope_, kNow)) break;
    bytes_out_ += way.socket->bytes_out() - before;
    way.waiting.pop_front();
  }
}

bool ReducerSockets::waiting() const {
  return std::ranges::any_of(ways_, [](const auto& entry) {
    return entry.second.connected && !entry.second.waiting.empty();
  });
}

void ReducerSockets::collect(std::vector<const Socket*>& sockets) const {
  for (const auto& [endpoint, way] : ways_)
    if (way.socket) sockets.push_back(way.socket.get());
}

}  // namespace dl::cluster
