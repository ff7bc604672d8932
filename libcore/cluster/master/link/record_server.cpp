#include "libcore/cluster/master/link/record_server.h"

namespace dl::cluster {

namespace {

// An honest worker has one, and one for evaluation.
constexpr std::size_t kMostFetches = 8;

}  // namespace

void RecordServer::tick() {
  std::erase_if(waiting_, [&](std::uint64_t number) {
    Member* const member = context_.members.find(number);
    if (member && !member->silent) serve(*member);
    return !member || member->wanted.empty();
  });
}

void RecordServer::require_record(bool evaluation, std::uint32_t shard,
                                  std::uint32_t record) const {
  const auto& shards =
      (evaluation ? context_.evaluation : context_.training).records;
  if (shard >= shards.size() || record >= shards[shard].size())
    throw Error{Code::kProtocol, "there is no record " +
                                     std::to_string(record) + " of shard " +
                                     std::to_string(shard)};
}

// Not before it has taken the last one: who asks and does not listen must not
// fill our memory.
void RecordServer::take(Member& member, const Fetch& fetch) {
  require_record(fetch.evaluation, fetch.shard, fetch.record);
  if (member.wanted.size() >= kMostFetches)
    throw Error{Code::kProtocol,
                "Fetch: it asks for more records than it takes"};
  member.wanted.push_back(fetch);
  serve(member);
  if (!member.wanted.empty()) waiting_.insert(member.number);
}

void RecordServer::serve(Member& member) {
  while (!member.wanted.empty() && context_.link.idle(member.peer)) {
    const Fetch fetch = member.wanted.front();
    member.wanted.erase(member.wanted.begin());
    serve(member, fetch);
  }
}

void RecordServer::serve(Member& member, const Fetch& fetch) {
  Record record;
  record.evaluation = fetch.evaluation;
  record.shard = fetch.shard;
  record.record = fetch.record;
  try {
    record.packed = record_(fetch);
  } catch (const Error& error) {
    // Its treatment is decided when the mini-batch is at hand.
    if (error.code() == Code::kProtocol) throw;
    context_.log(error.code() == Code::kData ? Level::kDetail : Level::kWarning,
                 error.what());
  }
  context_.outgoing.send(member, record.to_message());
}

}  // namespace dl::cluster
