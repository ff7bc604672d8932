#include "libcore/cluster/protocol/message_limits.h"

#include <algorithm>
#include <array>

#include "libcore/cluster/protocol/message_sync.h"
#include "libcore/data/format/dataset.h"

namespace dl::cluster {
namespace {

// Kinds of blobs.
enum class Blob : std::uint8_t {
  kNone,
  kUpdate,  // threshold code
  kDelta,   // delta code
  kParameters,
  kStatistics,
  kUpdaterState,
  kFasgd,
  kPiece,  // of what a slot gives in sync
  kSlice,  // of a Result
  kRecord,
  kLoad
};

constexpr std::size_t kSmall = 16384, kSmallValues = 256;
constexpr std::size_t kLong = std::size_t{1} << 20, kLongValues = 1 << 18;
constexpr std::size_t kNumber = 9;  // bytes, at most

struct Rule {
  MessageType type;
  unsigned from;
  std::size_t body = kSmall;  // bytes
  std::size_t values = kSmallValues;
  std::array<Blob, 5> blobs = {};
};

constexpr auto kUp = kFromWorker | kFromChild;
constexpr auto kDown = kFromMaster | kFromParent;
using enum MessageType;

constexpr Rule kRules[] = {
#define DL_MESSAGE(name, senders, taker, bytes, values, ...) \
  {MessageType::k##name, senders, bytes, values, {__VA_ARGS__}},
#include "libcore/cluster/protocol/messages.inc"
#undef DL_MESSAGE
};

const Rule& rule_of(MessageType type) {
  const auto* found = std::ranges::find(kRules, type, &Rule::type);
  if (found == std::end(kRules))
    throw Error{Code::kProtocol, "message of an unknown type"};
  return *found;
}

std::uint64_t body_of(const Rule& rule, const Sizes& sizes) {
  if (rule.type == kReady) return rule.body + kNumber * sizes.shards;
  if (rule.type == kTaskDone)
    return std::max<std::uint64_t>(rule.body, sizes.evaluations);
  return rule.body;
}

// The longest that such a blob can be.  Codes say for each value where it is,
// so a bad choice of their form takes more than the values.
std::uint64_t bytes_of(Blob blob, const Sizes& sizes) {
  constexpr std::uint64_t kReal = sizeof(float), kHead = 65536;
  switch (blob) {
    case Blob::kNone:
      break;
    case Blob::kUpdate:
      return kHead + sizes.parameters * 2;
    case Blob::kDelta:
      return kHead + sizes.parameters * 2 * kReal;
    case Blob::kParameters:
      return sizes.parameters * kReal;
    case Blob::kStatistics:
      return sizes.statistics * kReal;
    case Blob::kUpdaterState:
      return sizes.updater_state * kReal;
    case Blob::kFasgd:
      return kHead + sizes.parameters * 2 * kReal;
    case Blob::kPiece:
      return std::min<std::uint64_t>(sizes.parameters + sizes.statistics,
                                     kLargestPiece) *
             kReal;
    case Blob::kSlice:
      return std::min<std::uint64_t>(
                 sizes.parameters + sizes.statistics + sizes.updater_state,
                 kLargestPiece) *
             kReal;
    case Blob::kRecord:
      return data::kMaxRecordBytes + data::kMaxRecordBytes / 128;
    case Blob::kLoad:
      return sizes.load;
  }
  return 0;
}

// Advice to make the body of such a message shorter.
std::string remedy(MessageType type) {
  if (type == kWelcome)
    return "; make fewer shards, with more examples in each record";
  if (type == kTaskDone) return "; ask for fewer kinds of evaluation";
  return "";
}

[[noreturn]] void fail(MessageType type, const std::string& what) {
  throw Error{Code::kProtocol, std::string(name_of(type)) + ": " + what};
}

void check_length(MessageType type, const std::string& of, std::uint64_t bytes,
                  std::uint64_t limit) {
  if (bytes > limit)
    fail(type, of + " of " + std::to_string(bytes) + " bytes > limit " +
                   std::to_string(limit));
}

}  // namespace

std::size_t most_values(MessageType type) { return rule_of(type).values; }

std::size_t count_values(const Json& body) {
  constexpr std::size_t kContainer = 8;
  if (!body.is_structured()) return 1;
  std::size_t count = kContainer;
  for (const Json& each : body) count += count_values(each);
  return count;
}

void check_sender(MessageType type, unsigned from) {
  if ((rule_of(type).from & from) == 0)
    fail(type, "no message that comes from there");
}

void check_lengths(MessageType type, const Lengths& lengths,
                   const Expected& expected) {
  const Rule& rule = rule_of(type);
  check_sender(type, expected.from);
  check_length(
      type, "body", lengths.body,
      expected.from == kAnybody ? kMaxBody : body_of(rule, expected.sizes));
  std::uint64_t sum = lengths.body;
  for (std::size_t i = 0; i < lengths.blobs.size(); ++i) {
    sum += lengths.blobs[i];
    if (expected.from == kAnybody) continue;
    if (i >= rule.blobs.size() || rule.blobs[i] == Blob::kNone)
      fail(type, "more blobs than it has");
    check_length(type, "blob " + std::to_string(i), lengths.blobs[i],
                 bytes_of(rule.blobs[i], expected.sizes));
  }
  check_length(type, "message", sum, expected.most);
}

void check_sent(MessageType type, const Lengths& lengths, std::size_t values,
                const Expected& sent) {
  const Rule& rule = rule_of(type);
  const bool too_long = lengths.body > body_of(rule, sent.sizes);
  const std::string cannot =
      "cannot send a message, as its receiver would "
      "refuse it: ";
  if (values > rule.values)
    throw Error{Code::kConfig, cannot + std::string(name_of(type)) + ": " +
                                   std::to_string(values) + " values > limit " +
                                   std::to_string(rule.values) + remedy(type)};
  try {
    check_lengths(type, lengths, sent);
  } catch (const Error& error) {
    throw Error{too_long ? Code::kConfig : Code::kBug,
                cannot + error.what() + (too_long ? remedy(type) : "")};
  }
}

void check_takes(const std::string& who, const Takes& takes,
                 const Expected& sent) {
  const auto check = [&](const char* what, std::uint64_t limit,
                         std::uint64_t most) {
    if (limit < most)
      throw Error{Code::kProtocol,
                  who + " takes " + what + " of up to " +
                      std::to_string(limit) + " bytes, and they have up to " +
                      std::to_string(most) +
                      "; run the same version of dl-tools on both sides"};
  };
  check("frames", takes.frame, kMaxFrame);
  check("messages", takes.message, largest_message(sent));
}

std::uint64_t largest_message(const Expected& expected) {
  if (expected.from == kAnybody) return expected.most;
  std::uint64_t largest = 0;
  for (const Rule& rule : kRules) {
    if ((rule.from & expected.from) == 0) continue;
    std::uint64_t bytes = body_of(rule, expected.sizes);
    for (const Blob blob : rule.blobs) bytes += bytes_of(blob, expected.sizes);
    largest = std::max(largest, bytes);
  }
  return std::min(largest, expected.most);
}

}  // namespace dl::cluster
