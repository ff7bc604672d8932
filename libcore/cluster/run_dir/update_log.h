// The update log of a run directory: every update that the master accepted, or
// every round of averaging, in files that begin at its checkpoints.
//
// An entry is handed to the system with one writev(2) before anybody is told of
// the update, so that no update that a worker has seen is lost with the master.
// It survives the process; it is not flushed to disk, so a machine that loses
// power may lose the end.
//
// Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/base/names.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log_format.h"
#include "libcore/io/mapping.h"

namespace dl::cluster {

// Place of update logs in a folder.
struct LogFile {
  std::string path;
  std::uint64_t base = 0;
};
// The update logs of a folder, in the order of their bases.
std::vector<LogFile> update_logs(const std::string& folder);

// Whether the file is shorter than a header, as after a loss of power.
bool is_cut_short(const LogFile& file);

// An update log opened for reading.
class LogInMemory {
 public:
  // Throws Error: kIo, it cannot be read; and what UpdateLogReader throws.
  explicit LogInMemory(const LogFile& file);
  UpdateLogReader& reader() { return *reader_; }

 private:
  std::shared_ptr<const io::Mapping> mapping_;
  std::optional<UpdateLogReader> reader_;
};

class UpdateLog {
 public:
  // run: id of this start of the master, 32 hexadecimal digits.
  UpdateLog(std::string folder, LogIdentity identity, std::string run, Log log);
  ~UpdateLog();
  UpdateLog(const UpdateLog&) = delete;
  UpdateLog& operator=(const UpdateLog&) = delete;

  // Continues after update `version`, which replay() has reached: cuts off a
  // torn or damaged end, and removes logs of updates that nobody has any more.
  // Throws Error: kIo, kCantCreate.
  void go_on(std::uint64_t version);
  // Notes that a checkpoint with the updates up to `version` was written.
  // Throws Error: kIo, kCantCreate.
  void begin(std::uint64_t version);
  // Removes logs without updates after `version`.
  void prune(std::uint64_t version);

  // Appends an entry.  If that fails there is one warning, and no log until the
  // next begin().
  void append(const LogEntry& entry);
  // Removes the entry that was appended last since begin(), as its history
  // could not be written; nothing is logged until the next begin().
  void take_back_last();
  // state: after the epoch, all counters moved on.
  void end_epoch(const RunState& state);

  // Bytes logged since the last begin(); 0 while nothing is logged.
  std::uint64_t size() const {
    return file_ < 0 ? 0 : static_cast<std::uint64_t>(size_);
  }

  // Hands to `visit` every update of sharing after `version`, if the log has
  // all up to `latest` in at most `most` bytes; else returns false and visits
  // none; so with logs that are damaged. run: the start of the master in which
  // somebody had `version`: those updates must be in this run's history.
  bool visit_after(const std::string& run, std::uint64_t version,
                   std::uint64_t latest, std::size_t most,
                   const std::function<void(const LogEntry&)>& visit) const;

 private:
  struct History;
  // Returns false if the logs do not have it.  Throws as their readers.
  bool find_after(const std::string& run, std::uint64_t version,
                  std::uint64_t latest, std::size_t most,
                  History& history) const;
  void open(const std::string& path);
  void close();
  LogEntry start_entry(std::uint64_t version) const;

  std::string folder_;
  LogIdentity identity_;
  std::string run_;
  std::vector<std::byte> run_bytes_;
  Log log_;
  int file_ = -1;
  std::string path_;
  std::uint64_t base_ = 0;
  std::int64_t size_ = 0;
  std::optional<std::int64_t> before_last_;  // size before the last entry
};

// The payload of kEpochEnd: counters of the run, and the running statistics.
std::vector<std::byte> encode_epoch_record(const RunState& state);
// Throws Error: kData.
void restore_epoch_record(std::span<const std::byte> payload, RunState& state);

// The payload of kStart as 32 digits; throws Error: kData.
std::string run_of(const LogEntry& start);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_LOG_H_
