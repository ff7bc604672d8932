// Runs, models and evaluations as event files of TensorBoard.

#ifndef DL_LIBCORE_PLOT_TENSORBOARD_H_
#define DL_LIBCORE_PLOT_TENSORBOARD_H_

#include <cstddef>
#include <string>

#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/plot/event_records.h"
#include "libcore/plot/run.h"

namespace dl::plot {

// The event file of a run that may still grow.  Steps are mini-batches in the
// model for what belongs to one, else epochs from 0; wall times are the begin
// of the run and the seconds of training since.
class RunEvents {
 public:
  // most: of so many new mini-batches each is a point; more become means.
  explicit RunEvents(const Run& run, std::size_t most = SIZE_MAX, Log log = {});

  // Records of what the run has now and had not in the last call; the first
  // begins with the network, as a graph, and the settings.
  std::string more(const Run& run);
  // The last record: whether the run is over.
  std::string end(const Run& run);

 private:
  void add_commits(const History& history);
  void add_epochs(const History& history);
  void add_exchanges(const History& history);
  void add_summaries(const History& history);
  void add_filters(const Run& run);

  std::size_t most_;
  Log log_;
  EventRecords records_;
  bool begun_ = false;
  double batches_ = 0, rounds_seen_ = 0;
  std::size_t commits_ = 0, epochs_ = 0, held_out_ = 0, exchanges_ = 0,
              rounds_ = 0, summaries_ = 0;  // that are written
  std::string checkpoint_;                  // the last one that was drawn
};

// "events.out.tfevents.1769860800.dl-plot": the same in each call, so that the
// file is replaced.
std::string event_file_name(double begin);

// The network as a graph, filters of its first layer as a picture, and
// histograms of its parameters.
// Throws Error: as nn::open_model().
std::string model_events(const std::string& path, const Log& log);
// Precision and recall at equally spaced thresholds, and all metrics.
// report: whole and valid, as dl-eval --json has it.
std::string report_events(const Json& report);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_TENSORBOARD_H_
