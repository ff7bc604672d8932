#include "libcore/cluster/master/link/feed_tree.h"

#include <set>
#include <utility>

namespace dl::cluster {

namespace {

constexpr double kLook = 0.1;  // seconds between two looks at members
// A member that could not reach so many parents in a row gets no more of them.
constexpr int kMostMisses = 2;

}  // namespace

FeedTree::FeedTree(RunContext& context)
    : context_(context),
      tree_(static_cast<std::size_t>(context.limits.fan_out)) {}

// A tree of few is a star anyway, so it stays.
bool FeedTree::wanted() {
  if (grown_) return true;
  const auto workers =
      static_cast<std::int64_t>(context_.members.workers().size());
  if (!is_tree(context_.limits.topology, workers)) return false;
  context_.feed.keep();
  return grown_ = true;
}

void FeedTree::tick() {
  if (context_.now < next_) return;
  next_ = context_.now + kLook;
  if (!wanted()) return;
  Members members;
  for (Member* member : context_.members.present())
    members[member->number] = member;
  follow(members);
  for (std::size_t i = 0; i < tree_.members().size(); ++i) {
    Member& member = *members.at(tree_.members()[i]);
    if (tree_.has_children(i)) context_.outgoing.ask_to_listen(member);
    seat(member, tree_.parent(i), members);
  }
}

// The tree has exactly the members that are there and can be reached.
void FeedTree::follow(const Members& members) {
  const auto fits = [&](std::uint64_t number) {
    const auto found = members.find(number);
    return found != members.end() && found->second->ready &&
           !found->second->silent && found->second->seat.misses < kMostMisses;
  };
  const std::set<std::uint64_t> before(tree_.members().begin(),
                                       tree_.members().end());
  for (const std::uint64_t number : before)
    if (!fits(number)) tree_.remove(number);
  for (const auto& [number, member] : members)
    if (!before.contains(number) && fits(number) && member->in_step)
      tree_.add(number);
}

void FeedTree::seat(Member& member, std::uint64_t parent,
                    const Members& members) {
  Seat& seat = member.seat;
  if (seat.parent == parent || context_.now < seat.not_before) return;
  Place place;
  place.parent = parent;
  if (parent != 0) place.endpoint = members.at(parent)->seat.endpoint;
  // Its parent does not listen yet.
  if (parent != 0 && place.endpoint.empty()) return;
  if (!context_.outgoing.send(member, place.to_message())) return;
  seat.parent = parent;
  seat.placed = true;
}

void FeedTree::take(Member& member, const Listening& listening) {
  if (!member.seat.asked)
    throw Error{Code::kProtocol, "Listening: it was not told to listen"};
  member.seat.endpoint = listening.endpoint;
  member.seat.beside = listening.beside;
}

void FeedTree::take(Member& member, const Fed& fed) {
  Seat& seat = member.seat;
  const std::uint64_t newest = context_.feed.number();
  if (!seat.placed || fed.have > newest ||
      fed.parent > context_.members.joined())
    throw Error{Code::kProtocol, "Fed: it was sent to no such parent"};
  if (fed.parent == 0) return take_over(member, fed.have, fed.why);
  if (fed.parent != seat.parent) return;  // it is sent to another meanwhile
  // It tells what its parent said.
  if (fed.after > newest) {
    take_over(member, fed.have, "its parent says what cannot be");
    context_.outgoing.send(member, Place{}.to_message());
    return;
  }
  // Sends what its parent left out; at first the master has sent it that.
  if (context_.members.set_feeder(member, fed.parent) == fed.parent)
    return context_.outgoing.refill(member, fed.have, fed.after);
  seat.misses = 0;
  seat.reached = fed.after;
  seat.since = context_.now;
  context_.events.write("feed", {{"worker", member.number},
                                 {"parent", fed.parent},
                                 {"epoch", context_.state.epoch}});
}

// The master feeds it.  why: "" if it only goes from one parent to another.
void FeedTree::take_over(Member& member, std::uint64_t have,
                         const std::string& why) {
  Seat& seat = member.seat;
  const std::uint64_t parent = context_.members.set_feeder(member, 0);
  if (parent != 0) {
    context_.outgoing.refill(member, have, context_.feed.number());
    context_.events.write("feed", {{"worker", member.number},
                                   {"parent", 0},
                                   {"epoch", context_.state.epoch},
                                   {"why", why}});
  }
  if (why.empty()) return;
  // If its parent died, that is known by then.
  seat.parent = 0;
  seat.not_before = context_.now + context_.limits.lost_after;
  context_.log(Level::kDetail, member.describe() + ": " + why);
  if (parent != 0 || ++seat.misses < kMostMisses) return;
  context_.log(Level::kWarning, member.describe() +
                                    " cannot be fed by other workers: " + why +
                                    "; the master sends it all updates itself");
}

void FeedTree::heard(Member& member, std::uint64_t position) {
  Seat& seat = member.seat;
  if (seat.fed_by == 0 || !member.in_step) return;
  if (position >= seat.reached) {
    seat.reached = context_.feed.number();
    seat.since = context_.now;
  } else if (context_.now - seat.since > context_.limits.lost_after) {
    take_over(member, position, "its parent sends it nothing");
  }
}

}  // namespace dl::cluster
