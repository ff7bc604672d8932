#include "libcore/cluster/tree/reducer_sockets.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::cluster {

namespace {

constexpr std::chrono::milliseconds kNow{0};

}  // namespace

void ReducerSockets::begin_session(Envelope envelope, Security security,
                                   const Sizes& sizes) {
  ways_.clear();
  envelope_ = std::move(envelope);
  security_ = std::move(security);
  sizes_ = sizes;
}

void ReducerSockets::send_to_reducer(const std::string& endpoint,
                                     SharedMessage message) {
  auto it = ways_.find(endpoint);
  if (it == ways_.end())
    it = ways_
             .emplace(endpoint, Way{{endpoint,
                                     security_,
                                     {.from = kFromParent},
                                     {.from = kFromChild, .sizes = sizes_},
                                     log_,
                                     carrier_},
                                    {}})
             .first;
  Way& way = it->second;
  way.waiting.push_back(std::move(message));
  try {
    if (way.line.was_connected()) send_waiting(way);
  } catch (const Error&) {  // serve() will see that it is lost
  }
}

void ReducerSockets::serve(Reducer& reducer) {
  std::vector<std::string> lost;
  for (auto& [endpoint, way] : ways_) {
    try {
      std::erase_if(way.waiting, [&](const SharedMessage& message) {
        return reducer.is_over(*message);
      });
      serve(way);
    } catch (const Error& error) {
      log_(Level::kDetail, endpoint + ": " + error.what());
      lost.push_back(endpoint);
    }
  }
  for (const std::string& endpoint : lost) {
    ways_.erase(endpoint);
    reducer.lost(endpoint);
  }
}

void ReducerSockets::serve(Way& way) {
  if (way.line.socket().receive(kNow))
    throw Error{Code::kProtocol, "a reducer has nothing to say"};
  if (way.line.connected()) send_waiting(way);
}

void ReducerSockets::send_waiting(Way& way) {
  DealerSocket& socket = way.line.socket();
  while (!way.waiting.empty()) {
    ++envelope_.sequence;
    const std::uint64_t before = socket.bytes_out();
    if (!socket.offer(way.waiting.front(), envelope_)) break;
    bytes_out_ += socket.bytes_out() - before;
    way.waiting.pop_front();
  }
}

bool ReducerSockets::waiting() const {
  return std::ranges::any_of(ways_, [](const auto& entry) {
    return entry.second.line.was_connected() && !entry.second.waiting.empty();
  });
}

bool ReducerSockets::flowed() {
  bool any = false;
  for (auto& [endpoint, way] : ways_)
    if (way.line.socket_if_any()) any = way.line.socket().flowed() || any;
  return any;
}

void ReducerSockets::collect(std::vector<const Socket*>& sockets) const {
  for (const auto& [endpoint, way] : ways_)
    if (way.line.socket_if_any()) sockets.push_back(way.line.socket_if_any());
}

}  // namespace dl::cluster
