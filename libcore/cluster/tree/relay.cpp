#include "libcore/cluster/tree/relay.h"

#include <utility>

namespace dl::cluster {

namespace {

// Children that went away are noticed when something is sent to them.
constexpr std::size_t kRoom = 2;

// A list in braces would copy it, which may be as large as the network.
std::vector<Message> list_of(Message message) {
  std::vector<Message> list;
  list.push_back(std::move(message));
  return list;
}

}  // namespace

void Relay::begin_session(const std::string& run, std::uint64_t number) {
  run_ = run;
  number_ = number;
  feed_.forget();
  children_.clear();
  for_master_.clear();
  tasks_.clear();
  if (std::exchange(parent_, 0) != 0) link_.connect("");
}

std::vector<Message> Relay::from_master(Received received) {
  const std::uint64_t number = received.envelope.feed;
  Message& message = received.message;
  if (number == 0 && message.type != MessageType::kState)
    return take_single(std::move(message));
  if (message.type != MessageType::kState)
    return hand_on(feed_.take({number, std::move(message)}));
  tasks_.clear();  // it has ended them
  std::vector<FeedItem> next = feed_.restart(number);
  // Messages included in the State are not sent on.
  tell_children(0, Feeding{number}.to_message());
  std::vector<Message> turn = list_of(std::move(message));
  for (Message& each : hand_on(std::move(next)))
    turn.push_back(std::move(each));
  return turn;
}

std::vector<Message> Relay::take_single(Message message) {
  if (message.type == MessageType::kStale) {
    const Stale stale = Stale::from_message(message);
    std::erase_if(tasks_, [&](const Task& task) {
      return task.lease == stale.lease && task.fence == stale.fence;
    });
  }
  if (message.type != MessageType::kTask) return list_of(std::move(message));
  tasks_.push_back(Task::from_message(message));
  std::vector<Message> turn;
  release_tasks(turn);
  return turn;
}

void Relay::release_tasks(std::vector<Message>& turn) {
  for (; !tasks_.empty() && tasks_.front().feed <= position();
       tasks_.pop_front())
    turn.push_back(tasks_.front().to_message());
}

std::vector<Message> Relay::from_parent(Received received) {
  if (received.envelope.run != run_ || parent_ == 0) return {};
  Message& message = received.message;
  if (message.type == MessageType::kFeeding) {
    const Feeding feeding = Feeding::from_message(message);
    for_master_.push_back(
        Fed{parent_, position(), feeding.after, ""}.to_message());
    return {};
  }
  if (received.envelope.feed == 0) return {};
  return hand_on(feed_.take({received.envelope.feed, std::move(message)}));
}

void Relay::from_child(const std::string& child, const Received& received) {
  if (received.envelope.run != run_) return;
  // One that is not taken is fed by the master.
  if (children_.size() >= kRoom * most_children_) return;
  if (!children_.insert(child).second) return;
  // Without a position it is told once there is one.
  if (feed_.position() &&
      !link_.send_to_child(child, Feeding{position()}.to_message(),
                           envelope(0)))
    children_.erase(child);
}

std::string Relay::listen(const Listen& listen) {
  most_children_ = static_cast<std::size_t>(listen.children);
  const Listening listening = link_.listen();
  if (!listening.endpoint.empty())
    for_master_.push_back(listening.to_message());
  return listening.endpoint;
}

void Relay::place(const Place& place) {
  // The master feeds it until the new parent does.
  if (parent_ != 0)
    for_master_.push_back(Fed{0, position(), 0, ""}.to_message());
  parent_ = place.parent;
  link_.connect(place.endpoint);
}

void Relay::parent_connected() {
  link_.send_to_parent(Attach{}.to_message(), envelope(0));
}

void Relay::parent_lost(const std::string& why) {
  if (parent_ == 0) return;
  parent_ = 0;
  link_.connect("");
  for_master_.push_back(Fed{0, position(), 0, why}.to_message());
}

std::vector<Message> Relay::take_for_master() {
  return std::exchange(for_master_, {});
}

std::vector<Message> Relay::hand_on(std::vector<FeedItem> items) {
  std::vector<Message> turn;
  for (FeedItem& item : items) {
    tell_children(item.number, item.message);
    turn.push_back(std::move(item.message));
  }
  release_tasks(turn);
  return turn;
}

// One that cannot take it is left to the master, who sees it fall behind.
void Relay::tell_children(std::uint64_t number, const Message& message) {
  std::erase_if(children_, [&](const std::string& child) {
    return !link_.send_to_child(child, message, envelope(number));
  });
}

Envelope Relay::envelope(std::uint64_t number) {
  Envelope envelope;
  envelope.run = run_;
  envelope.worker = number_;
  envelope.sequence = ++sequence_;
  envelope.feed = number;
  return envelope;
}

}  // namespace dl::cluster
