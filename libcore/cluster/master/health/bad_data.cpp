// Data that no worker can use, and mini-batches that kill whoever trains them.

#include <algorithm>
#include <map>
#include <set>

#include "libcore/cluster/master/epoch/phase.h"

namespace dl::cluster {

namespace {

std::string file_of(const RunContext& context, bool evaluation,
                    std::uint32_t shard) {
  const auto& files =
      evaluation ? context.evaluation_files : context.training_files;
  return shard < files.size() ? "'" + files[shard] + "'"
                              : "shard " + std::to_string(shard);
}

}  // namespace

std::int64_t Phase::leaves_out_from(std::int64_t) const { return 0; }

// Distinguishes a record that no worker can use from one that one worker
// cannot.
void Phase::take_bad_record(Member& member, const Fault& fault) {
  try {
    context_.examine({is_evaluation(), fault.shard, fault.record});
  } catch (const Error& error) {
    if (error.code() == Code::kProtocol) throw;
    if (error.code() != Code::kData)
      return context_.answers.reject(member, fault.batch, error.what(),
                                     error.code());
    context_.answers.note_fault(member, fault.batch, error.what());
    return set_aside(fault.batch, {&fault.shard, 1}, error.what());
  }
  context_.answers.note_fault(member, fault.batch, fault.reason);
  member.faulty = true;
  member.unfit =
      "it cannot use a record that is all right here: " + fault.reason;
}

void Phase::reject(Member& member, std::int64_t first, std::int64_t count,
                   const std::string& why) {
  bool wanted = false;  // by nobody, if the shards have been left out since
  for (std::int64_t batch = first; batch < first + count; ++batch) {
    if (table().is_passed_over(batch)) continue;
    wanted = true;
    if (set_aside_odd(batch))
      return context_.answers.note_fault(member, batch, why);
  }
  if (wanted) context_.answers.reject(member, first, why);
}

// False: nothing in it is odd, or nobody can tell.
bool Phase::set_aside_odd(std::int64_t batch) {
  if (is_evaluation()) return false;
  for (const data::ExampleRun& piece : order().pieces(batch)) {
    std::string odd;
    try {
      odd = context_.odd_values(piece);
    } catch (const Error& error) {
      if (error.code() != Code::kData) return false;
      odd = error.what();
    }
    if (odd.empty()) continue;
    const std::uint32_t shard = piece.shard;
    set_aside(batch, {&shard, 1}, odd);
    return true;
  }
  return false;
}

// If several who have nothing to do with each other were lost over it.
void Phase::blame_data(const Member& member, std::int64_t batch,
                       const std::string& why) {
  std::vector<Member*> others = context_.members.counted();
  std::erase_if(others, [&](const Member* other) {
    return other->number == member.number;
  });
  const std::string lost = losses_.victims(batch, others);
  if (lost.empty()) return;
  std::set<std::uint32_t> shards;
  for (const data::ExampleRun& piece : order().pieces(batch))
    shards.insert(piece.shard);
  const std::vector<std::uint32_t> all(shards.begin(), shards.end());
  set_aside(batch, all,
            "mini-batch " + std::to_string(batch) + " of epoch " +
                std::to_string(context_.state.epoch + 1) + " was lost with " +
                lost + ", at last: " + why + "; it has examples of " +
                contents_of(batch) +
                ": look at them and at the memory of "
                "workers");
}

// "record 3 of 'a.dls', records 4, 9 of 'b.dls'"
std::string Phase::contents_of(std::int64_t batch) {
  std::map<std::uint32_t, std::set<std::uint32_t>> records;
  for (const data::ExampleRun& piece : order().pieces(batch))
    records[piece.shard].insert(piece.record);
  std::string text;
  for (const auto& [shard, numbers] : records) {
    text += text.empty() ? "" : " and ";
    text += numbers.size() == 1 ? "record " : "records ";
    std::string list;
    for (const std::uint32_t number : numbers)
      list += (list.empty() ? "" : ", ") + std::to_string(number);
    text += list + " of " + file_of(context_, is_evaluation(), shard);
  }
  return text;
}

// The rest of the epoch goes on without them, if the run may.
void Phase::set_aside(std::int64_t batch, std::span<const std::uint32_t> shards,
                      const std::string& why) {
  if (is_evaluation()) return context_.fail({Code::kData, why});
  RunState& state = context_.state;
  const std::int64_t from = leaves_out_from(batch);
  std::vector<BadShard> bad = state.bad_shards;
  std::vector<std::string> files;
  for (const std::uint32_t shard : shards) {
    const auto known = std::ranges::find(bad, shard, &BadShard::shard);
    if (known != bad.end()) {
      known->from = std::min(known->from, from);
      continue;
    }
    bad.push_back({shard, state.epoch, from});
    files.push_back(file_of(context_, false, shard));
  }
  const auto most = static_cast<std::size_t>(context_.limits.skip_bad_shards);
  if (bad.size() > most || bad.size() == context_.training.records.size())
    return context_.fail(
        {Code::kData,
         why + (bad.size() == context_.training.records.size()
                    ? "; no other shard is left"
                    : "; with --skip-bad-shards " + std::to_string(bad.size()) +
                          " the run goes on without " +
                          (bad.size() == 1 ? "its shard" : "the bad shards"))});
  state.bad_shards = std::move(bad);
  if (std::ranges::find(state.bad_batches, batch) == state.bad_batches.end())
    state.bad_batches.push_back(batch);
  condemn_bad();
  context_.events.write("quarantine",
                        {{"epoch", state.epoch},
                         {"first", batch},
                         {"shards", std::vector(shards.begin(), shards.end())},
                         {"files", files},
                         {"from", from},
                         {"why", why}});
  std::string what = "mini-batch " + std::to_string(batch) + " is passed over";
  for (const std::string& file : files) what += ", " + file + " is left out";
  context_.log(Level::kWarning, why + "; " + what);
  context_.save_soon = true;
  note_condemned();
}

void Phase::condemn_bad() {
  const RunState& state = context_.state;
  for (const std::int64_t batch : state.bad_batches)
    if (batch < table().batches()) table().condemn(batch);
  for (const BadShard& bad : state.bad_shards) {
    if (bad.epoch != state.epoch) continue;
    for (std::int64_t i = bad.from; i < table().batches(); ++i)
      if (std::ranges::count(order().pieces(i), bad.shard,
                             &data::ExampleRun::shard))
        table().condemn(i);
  }
}

}  // namespace dl::cluster
