// Instead of training: measures workers and their lines for an Estimate.
//
// All workers compute at the same time, as they would in training, again with
// messages as long as their updates to the master and back, and take steps of
// sync, in which the master echoes what would come of others; and then each has
// its line measured, one after the other: messages as long as updates, alone
// and in a row, what a round of averaging sends, and the pieces of a gradient
// go there and back.
//
// Before a run whose mode is chosen (Estimate::quick), a single worker is not
// measured: others have a moment to join it, and else it is alone.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_ESTIMATE_ROUND_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_ESTIMATE_ROUND_H_

#include <map>
#include <set>
#include <vector>

#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/report/estimate.h"
#include "libcore/cluster/run_config/run_config.h"

namespace dl::cluster {

// The part of the estimate that is not measured.
Estimate estimate_of(const RunConfig& plan, const Limits& limits, bool local);

class EstimateRound : public Phase {
 public:
  // measured: receives the figures of its hosts once all are there.
  EstimateRound(RunContext& context, Estimate& measured);

  // Throws Error: kUnavailable, a worker does not answer, unless
  // Estimate::failure is to say so.
  void tick() override;
  void take(Member& member, const Message& message) override;
  bool done() const override { return stage_ == Stage::kDone || winding_up_; }
  // There is nothing to save.
  bool at_boundary() const override { return false; }
  Ranges committed() const override { return {}; }

 protected:
  LeaseTable& table() override { return table_; }
  data::Epoch& order() override { return order_; }

 private:
  enum class Stage { kComputing, kExchanging, kAlone, kPair, kLines, kDone };
  enum class Trip { kShort, kMany, kLong, kGradient };

  std::int64_t batches() const;
  double long_enough() const;
  void give_up(const std::string& why);
  bool may_be_alone();
  void ask(Member& member, Probe probe);
  void take_figures(HostFigures& host, const Probed& probed);
  void begin(Stage stage);
  // Whether the message answers the stage's Probe, and is no load.
  bool answers(Member& member, const Probed& probed);
  void begin_trips(Trip trip, std::size_t load);
  void ask_trip();
  void take_echo(HostFigures& host, double seconds);
  void next_line();
  void check_silence();
  void watch_newcomers();

  Estimate& measured_;
  const double began_;
  LeaseTable table_;  // always empty, as nothing is leased
  data::Epoch order_{{}, 1, 0, 0, false};
  Stage stage_ = Stage::kComputing;
  std::map<std::uint64_t, HostFigures> hosts_;  // figures of hosts, by member
  std::set<std::uint64_t> late_;                // members that came after those
  std::size_t computing_ = 0;  // number of answers still to come
  double asked_ = 0;           // time of the last Probe
  // State of the line that is measured.
  std::uint64_t current_ = 0;
  Trip trip_ = Trip::kShort;
  std::size_t load_ = 0;  // bytes of a load
  double trips_seconds_ = 0;
  std::int64_t trips_ = 0;
  std::size_t awaited_ = 0;  // answers to come of the present round trip
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_ESTIMATE_ROUND_H_
