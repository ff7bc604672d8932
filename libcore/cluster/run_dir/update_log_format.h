// A file of the update log, updates-NNNNNNNNNNNN.log, dl-run(5): a header and
// then entries, each with checksums of its own.
//
// Reading looks at bytes in memory and never trusts a length before the
// checksum that covers it.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_FORMAT_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/run_dir/numbered_name.h"

namespace dl::cluster {

// Number of a log: the update before its first.
inline constexpr NumberedName kUpdateLogName{"updates-", ".log", 12};

// Identity that all logs of a run directory share.
struct LogIdentity {
  std::uint64_t elements = 0;   // number of parameters of the network
  std::uint64_t directory = 0;  // XXH3 of run.json
  bool operator==(const LogIdentity&) const = default;
};

struct LogHeader {
  LogIdentity identity;
  std::uint64_t base = 0;  // update before the first one in this log
};

enum class EntryKind : std::uint8_t {
  kUpdate = 1,    // update; payload: as in the message Update
  kEpochEnd = 2,  // `sequence` was the epoch's last; encode_epoch_record()
  kStart = 3,     // a master continues from `sequence`; payload: run id
  kRound = 4,     // round of averaging; payload: averaging_log.h
  kSetback = 5,   // rollback to an earlier state; payload: rollback.h
};

struct LogEntry {
  EntryKind kind = EntryKind::kUpdate;
  std::uint64_t sequence = 0;
  std::int64_t epoch = 0, first = 0, count = 0;  // mini-batches of the entry
  std::int64_t examples = 0;
  double loss_sum = 0;  // mean loss times examples, summed over batches
  // Fields of an update:
  double threshold = 0;
  std::uint64_t worker = 0;
  std::uint64_t staleness = 0;
  float scale = 1;  // parameters -= scale * update

  std::span<const std::byte> payload;  // memory of whoever made the entry
  // To be written behind it, as a part of it; empty when it is read.
  std::span<const std::byte> rest;

  // Whether it makes a new version of the parameters.
  bool moves() const {
    return kind == EntryKind::kUpdate || kind == EntryKind::kRound ||
           kind == EntryKind::kSetback;
  }
};

constexpr std::size_t kLogHeaderBytes = 48;
constexpr std::size_t kEntryHeadBytes = 96;
constexpr std::size_t kEntryTailBytes = 8;

std::vector<std::byte> encode_log_header(const LogHeader& header);
// Bytes before an entry's payload, and after it.
std::array<std::byte, kEntryHeadBytes> encode_head(const LogEntry& entry);
std::array<std::byte, kEntryTailBytes> encode_tail(const LogEntry& entry);
// Appends the entry to `out`.
void encode_entry(const LogEntry& entry, std::vector<std::byte>& out);

class UpdateLogReader {
 public:
  // bytes: the whole file, and must live as long as the reader and the entries.
  // Throws Error: kData, no log or a damaged one; kProtocol, another version.
  // Messages begin with `name`.
  UpdateLogReader(std::span<const std::byte> bytes, std::string name);

  const LogHeader& header() const { return header_; }

  // The next entry; nothing at the end, or where a last entry was not written
  // whole.  Throws Error: kData, "'m.run/updates-...': offset 4711: ...".
  std::optional<LogEntry> next();

  std::size_t offset() const { return offset_; }  // offset of the next entry
  // Sequence number of the last entry.
  std::uint64_t sequence() const { return sequence_; }
  bool torn() const { return torn_; }  // whether bytes follow that are no entry

 private:
  std::optional<LogEntry> tear();
  [[noreturn]] void fail(const std::string& what) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  LogHeader header_;
  std::size_t offset_ = kLogHeaderBytes;
  std::uint64_t sequence_ = 0;
  bool torn_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_FORMAT_H_
