// events.jsonl: the history of a run, one JSON object a line, dl-run(5).
//
// Each line goes out in one write(2) to a file opened for appending, so lines
// are whole whatever kills the master.  Lines that cannot be written wait, in
// order, until they can be; a checkpoint counts once they are on the disk.  A
// file that has grown large is replaced by its fold (history_fold.h), which is
// made beside the master's loop.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_EVENTS_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_EVENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/clock.h"
#include "libcore/base/json.h"
#include "libcore/base/log.h"

namespace dl::cluster {

class FoldedFile;

class EventLog {
 public:
  static constexpr std::int64_t kFoldAfter = std::int64_t{64} << 20;

  // run, incarnation: values of every line.  clock: clock of "mono"; outlives
  // this object.  fold_after: bytes from which the file is folded; after that,
  // when it is twice as large as its fold, too.
  // Throws Error: as io::open_own().
  EventLog(const std::string& path, std::string run, std::uint64_t incarnation,
           Log log, Clock& clock = monotonic_clock(),
           std::int64_t fold_after = kFoldAfter);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // fields: an object; "event", "ts", "mono", "run" and "incarnation" are
  // added to it.
  void write(std::string_view event, Json fields = Json::object());

  // Called after each event that has to wait.
  void on_trouble(std::function<void()> call) { on_trouble_ = std::move(call); }

  // Returns once all events so far are on the disk.
  // Throws Error: kIo, they cannot be written.
  void sync();

 private:
  bool write_waiting();  // returns false with errno set
  bool open_again();     // the same
  void fold_if_due();
  void take_fold();

  std::string path_, run_;
  std::uint64_t incarnation_;
  Log log_;
  Clock& clock_;
  int file_ = -1;
  std::int64_t size_ = 0;                // of the file
  std::int64_t fold_after_, next_fold_;  // sizes
  std::unique_ptr<FoldedFile> fold_;     // the one that is being made
  std::string waiting_;  // waiting lines; part of the first may be written
  std::function<void()> on_trouble_;
  bool lost_ = false;  // whether events were lost, as too many waited
  bool complained_ = false;
};

// The kind of the last whole event in a history; "": there is none.
std::string last_event(const std::string& path);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_EVENTS_H_
