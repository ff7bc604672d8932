// dl-run(5) has the tables of fields.

#include "libcore/cluster/run_dir/update_log_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic = {'D', 'L', 'U', 'P', 'D', 'A', 'T', 'E'};
constexpr std::uint32_t kVersion = 1;

// Where the fields of a header and of an entry's head are.
enum HeaderOffset : std::size_t {
  kFormat = 8,
  kElements = 16,
  kDirectory = 24,
  kBase = 32,
  kHeaderSum = 40,
};
enum EntryOffset : std::size_t {
  kLength = 0,
  kSequence = 8,
  kEpoch = 16,
  kFirst = 24,
  kCount = 32,
  kExamples = 40,
  kLossSum = 48,
  kThreshold = 56,
  kWorker = 64,
  kStaleness = 72,
  kScale = 80,
  kKind = 84,
  kHeadSum = 88,
};

template <typename T>
void put(std::byte* out, std::size_t offset, T value) {
  std::memcpy(out + offset, &value, sizeof value);
}

template <typename T>
T get(std::span<const std::byte> in, std::size_t offset) {
  T value;
  std::memcpy(&value, in.data() + offset, sizeof value);
  return value;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes,
                             [](std::byte b) { return b == std::byte{}; });
}

}  // namespace

std::vector<std::byte> encode_log_header(const LogHeader& header) {
  std::vector<std::byte> out(kLogHeaderBytes);
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  put(out.data(), kFormat, kVersion);
  put(out.data(), kElements, header.identity.elements);
  put(out.data(), kDirectory, header.identity.directory);
  put(out.data(), kBase, header.base);
  put(out.data(), kHeaderSum, io::digest(std::span(out).first(kHeaderSum)));
  return out;
}

std::array<std::byte, kEntryHeadBytes> encode_head(const LogEntry& entry) {
  std::array<std::byte, kEntryHeadBytes> out{};
  std::byte* const head = out.data();
  put(head, kLength,
      std::uint64_t{kEntryHeadBytes + entry.payload.size() + entry.rest.size() +
                    kEntryTailBytes});
  put(head, kSequence, entry.sequence);
  put(head, kEpoch, entry.epoch);
  put(head, kFirst, entry.first);
  put(head, kCount, entry.count);
  put(head, kExamples, entry.examples);
  put(head, kLossSum, entry.loss_sum);
  put(head, kThreshold, entry.threshold);
  put(head, kWorker, entry.worker);
  put(head, kStaleness, entry.staleness);
  put(head, kScale, entry.scale);
  put(head, kKind, static_cast<std::uint32_t>(entry.kind));
  put(head, kHeadSum, io::digest(std::span(head, kHeadSum)));
  return out;
}

std::array<std::byte, kEntryTailBytes> encode_tail(const LogEntry& entry) {
  std::array<std::byte, kEntryTailBytes> out{};
  io::Digest digest;
  digest.add(entry.payload);
  digest.add(entry.rest);
  put(out.data(), 0, digest.value());
  return out;
}

void encode_entry(const LogEntry& entry, std::vector<std::byte>& out) {
  const auto head = encode_head(entry);
  const auto tail = encode_tail(entry);
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), entry.payload.begin(), entry.payload.end());
  out.insert(out.end(), entry.rest.begin(), entry.rest.end());
  out.insert(out.end(), tail.begin(), tail.end());
}

UpdateLogReader::UpdateLogReader(std::span<const std::byte> bytes,
                                 std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  if (bytes.size() < kLogHeaderBytes ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    throw Error{Code::kData, name_ + ": no update log"};
  // First, so that damage is no later version.
  if (io::digest(bytes.first(kHeaderSum)) !=
      get<std::uint64_t>(bytes, kHeaderSum))
    throw Error{Code::kData, name_ + ": the header is damaged"};
  if (const auto version = get<std::uint32_t>(bytes, kFormat);
      version != kVersion)
    throw Error{Code::kProtocol, name_ + ": an update log of version " +
                                     std::to_string(version) + ", this is " +
                                     std::to_string(kVersion)};
  header_.identity.elements = get<std::uint64_t>(bytes, kElements);
  header_.identity.directory = get<std::uint64_t>(bytes, kDirectory);
  header_.base = sequence_ = get<std::uint64_t>(bytes, kBase);
}

void UpdateLogReader::fail(const std::string& what) const {
  throw Error{Code::kData,
              name_ + ": offset " + std::to_string(offset_) + ": " + what};
}

std::optional<LogEntry> UpdateLogReader::tear() {
  torn_ = true;
  return std::nullopt;
}

// Distinguishes damage from the part of an entry, or zeros, that a process or a
// machine that died leaves at the end of the file: only the end can be cut off.
std::optional<LogEntry> UpdateLogReader::next() {
  const std::span<const std::byte> rest = bytes_.subspan(offset_);
  if (rest.empty() || torn_) return std::nullopt;
  if (rest.size() < kEntryHeadBytes) return tear();
  if (io::digest(rest.first(kHeadSum)) != get<std::uint64_t>(rest, kHeadSum)) {
    if (all_zero(rest)) return tear();
    fail("the head of the entry after update " + std::to_string(sequence_) +
         " is damaged");
  }
  const auto length = get<std::uint64_t>(rest, kLength);
  if (length < kEntryHeadBytes + kEntryTailBytes) fail("impossible length");
  if (length > rest.size()) return tear();

  LogEntry entry;
  const auto kind = get<std::uint32_t>(rest, kKind);
  if (kind < 1 || kind > static_cast<std::uint32_t>(EntryKind::kSetback))
    fail("unknown kind " + std::to_string(kind));
  entry.kind = static_cast<EntryKind>(kind);
  entry.sequence = get<std::uint64_t>(rest, kSequence);
  entry.epoch = get<std::int64_t>(rest, kEpoch);
  entry.first = get<std::int64_t>(rest, kFirst);
  entry.count = get<std::int64_t>(rest, kCount);
  entry.examples = get<std::int64_t>(rest, kExamples);
  entry.loss_sum = get<double>(rest, kLossSum);
  entry.threshold = get<double>(rest, kThreshold);
  entry.worker = get<std::uint64_t>(rest, kWorker);
  entry.staleness = get<std::uint64_t>(rest, kStaleness);
  entry.scale = get<float>(rest, kScale);
  entry.payload =
      rest.subspan(kEntryHeadBytes, length - kEntryHeadBytes - kEntryTailBytes);
  if (io::digest(entry.payload) !=
      get<std::uint64_t>(rest, length - kEntryTailBytes)) {
    if (length == rest.size()) return tear();  // a machine that lost power
    fail("update " + std::to_string(entry.sequence) + " is damaged");
  }
  if (entry.sequence != sequence_ + (entry.moves() ? 1 : 0))
    fail("update " + std::to_string(entry.sequence) + " follows update " +
         std::to_string(sequence_));
  if (entry.epoch < 0 || entry.first < 0 ||
      entry.count < (entry.moves() ? 1 : 0) ||
      entry.first > INT64_MAX - entry.count || entry.examples < 0 ||
      !std::isfinite(entry.loss_sum) || !std::isfinite(entry.threshold) ||
      !std::isfinite(entry.scale))
    fail("impossible values");
  sequence_ = entry.sequence;
  offset_ += length;
  return entry;
}

}  // namespace dl::cluster
