// CSV of a run's numbers.

#include "libcore/plot/run_data.h"

#include <cmath>
#include <limits>

#include "libcore/eval/text.h"
#include "libcore/plot/csv_field.h"
#include "libcore/plot/run_charts.h"

namespace dl::plot {
namespace {

class Table {
 public:
  Table(const std::string& run, const History& history)
      : run_(csv_field(run)), history_(history) {}

  void row(const std::string& series, const std::size_t* worker,
           std::int64_t epoch, double batches, double seconds, double value) {
    if (!std::isfinite(value)) return;
    text_ += run_ + "," + csv_field(series) + "," +
             (worker ? csv_field(history_.workers[*worker]) : "") + "," +
             std::to_string(epoch) + "," +
             (std::isfinite(batches) ? eval::shortest(batches) : "") + "," +
             eval::shortest(seconds) + "," + eval::shortest(value) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string run_, text_;
  const History& history_;
};

std::string rows_of(const Run& run, const std::string& name) {
  const History& history = run.history();
  const double none = std::numeric_limits<double>::quiet_NaN();
  Table table(name, history);
  double batches = 0;
  for (const Commit& one : history.commits) {
    batches += static_cast<double>(one.count);
    const auto row = [&](const char* series, double value) {
      table.row(series, &one.worker, one.epoch, batches, one.seconds, value);
    };
    row("commit/loss", one.loss);
    row("commit/examples", static_cast<double>(one.examples));
    row("commit/bytes", static_cast<double>(one.bytes));
    row("commit/staleness", one.staleness);
  }
  const auto at_epochs = history.batches_at_epochs();
  for (std::size_t i = 0; i < history.epochs.size(); ++i) {
    const Epoch& one = history.epochs[i];
    table.row("epoch/loss", nullptr, one.epoch, at_epochs[i], one.seconds,
              one.loss);
  }
  for (const HeldOut& one : history.held_out)
    for (const auto& [key, value] : one.metrics)
      table.row("evaluation/" + key, nullptr, one.epoch, none, one.seconds,
                value);
  for (const Exchange& one : history.exchanges)
    for (const auto& [key, value] : one.values)
      table.row("exchange/" + key, &one.worker, one.epoch, none, one.seconds,
                value);
  for (const Round& one : history.rounds)
    for (const auto& [key, value] : one.values)
      table.row("round/" + key, nullptr, one.epoch, none, one.seconds, value);
  for (const Summary& one : history.summaries)
    for (const auto& entry : one.layers) {
      const auto row = [&](const std::string& series, double value) {
        table.row("summary/" + series + "/" + entry.first, nullptr, one.epoch,
                  one.batches, one.seconds, value);
      };
      const LayerSummary& layer = entry.second;
      row("norm", layer.parameters.norm);
      row("mean", layer.parameters.mean);
      row("change", layer.change.norm);
      row("learning_rate", layer.learning_rate);
      if (!layer.gradients.empty()) row("gradient_rms", layer.gradients.rms);
      if (!layer.activations.empty())
        row("activation_rms", layer.activations.rms);
    }
  return table.text();
}

}  // namespace

std::string run_data(const std::vector<Run>& runs) {
  std::string text = "run,series,worker,epoch,batches,seconds,value\n";
  const auto names = names_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += rows_of(runs[i], names[i]);
  return text;
}

}  // namespace dl::plot
