// The history of a run, events.jsonl of dl-run(5), as numbers to draw.
//
// Read from the front, and on from there as it grows.  Lines that are not JSON
// are counted and passed over, as are keys of other types than the page says.
// Memory is bounded: of a long history older points are means of several, or
// each second one is left out.

#ifndef DL_LIBCORE_PLOT_HISTORY_H_
#define DL_LIBCORE_PLOT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/plot/commit.h"
#include "libcore/plot/committed.h"
#include "libcore/plot/event_line.h"
#include "libcore/plot/spread.h"

namespace dl::plot {

// Seconds are of training: the time between a master's end and the next start
// is left out.  Workers are indices into History::workers.

struct Epoch {
  std::int64_t epoch = 0, examples = 0;
  double seconds = 0, loss = 0;
};

struct HeldOut {
  std::int64_t epoch = 0;
  double seconds = 0;
  // "classification/accuracy": without those of single classes.
  std::map<std::string, double> metrics;
};

struct Exchange {
  double seconds = 0;
  std::int64_t epoch = 0;
  std::size_t worker = 0;
  std::map<std::string, double> values;  // "density", "staleness_mean"
};

struct Round {
  double seconds = 0;
  std::int64_t epoch = 0;
  std::map<std::string, double> values;  // "bytes", "loss", "replicas"
};

struct LayerSummary {
  Spread parameters, change;
  double learning_rate = 0;
  Bins gradients, activations;  // empty: none were counted
};

struct Summary {
  double seconds = 0;
  std::int64_t epoch = 0;
  double batches = 0, since = 0;
  std::map<std::string, LayerSummary> layers;
};

// One event for the time line, in words.
struct Happening {
  double seconds = 0;
  std::string kind, time, worker, text;  // time: of day
};

struct History {
  std::vector<std::string> workers;
  std::vector<Commit> commits;  // those that count, see dl-run(5)
  std::vector<Epoch> epochs;
  std::vector<HeldOut> held_out;
  std::vector<Exchange> exchanges;
  std::vector<Round> rounds;
  std::vector<Summary> summaries;
  std::vector<Happening> happenings;
  std::size_t happenings_left_out = 0;
  Json start, report;        // the last ones; null: there is none
  std::int64_t damaged = 0;  // lines that are no events
  std::int64_t folded = 0;   // lines that the master has folded
  bool thinned = false;      // whether points were left out, or summed here
  double seconds = 0;        // of the last event
  double begin = 0;          // of the first one: seconds since 1970; or 0

  // Whether it has anything to show.
  bool has_events() const;
  // Mini-batches in the model up to the end of each epoch in `epochs`.
  std::vector<double> batches_at_epochs() const;
};

class HistoryReader {
 public:
  explicit HistoryReader(std::string path) : path_(std::move(path)) {}

  // Reads whole lines that are new; a last line without its end waits.  A file
  // that another has replaced is read from its beginning.
  // Returns whether there were any.
  // Throws Error: kNoInput, it cannot be opened; kIo; kData, mini-batches are
  // committed twice, or sums of them do not agree, though no line is damaged.
  bool read();
  const History& history() const noexcept { return history_; }
  const std::string& path() const noexcept { return path_; }

 private:
  bool take_lines(std::string_view bytes);
  void take_line(std::string_view line);
  void take(EventValue event);
  void move_clock(EventValue event);
  std::size_t worker(std::int64_t number, std::string name);
  std::size_t worker(EventValue event);
  void forget(EventValue event);
  void note(EventValue event, const std::string& kind);
  void take_commit(EventValue event);
  void take_commits(EventValue event);
  void add(Commit commit);
  void add_waiting();
  void thin();

  // Some of many, at equal distances.
  struct Some {
    std::int64_t every = 1, seen = 0;
    bool takes() { return seen++ % every == 0; }
  };

  std::string path_;
  std::uint64_t file_ = 0;     // its inode
  std::int64_t offset_ = 0;    // of the next byte to read
  std::string begun_;          // a line without its end, so far
  bool passing_over_ = false;  // whether that is too long a line
  EventLine line_;
  std::int64_t lines_ = 0;
  std::exception_ptr failed_;  // by a line that was read
  History history_;
  Committed committed_;
  std::int64_t incarnation_ = -1;
  double base_ = 0, mono_ = 0;                   // of the clock of this start
  std::map<std::int64_t, std::size_t> numbers_;  // of workers in this start
  std::int64_t commits_a_point_ = 1;             // more: the history is long
  std::vector<std::optional<Commit>> waiting_;   // by worker, for more
  Some summaries_;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_HISTORY_H_
