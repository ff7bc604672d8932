// Plan of the updates from the lanes' gradients: gradient normalization, l1 and
// l2, updaters.
//
// The flat vectors are cut into pieces, none across two tensors, which are
// dealt to the lanes in runs of as many parameters that are trained; those of
// frozen layers have no gradient, and an update of zeros.  Pieces do not depend
// on the number of lanes, and norms are summed over pieces in order, so results
// do not either.
//
// Each element is touched in two passes.  gather() sums the lanes' gradients;
// a piece fits a core's cache, so the check and the norm that follow cost no
// memory traffic.  step() is Device::update(), which reads gradient, state and
// parameters once and writes what changes.
//
// The findings of the passes stay on the device, a number for each piece; so
// both may follow each other without a wait, and what they found is read at the
// end.
//
// Nothing that is not finite spreads: of a gradient that is not judge() leaves
// a guard, with which step() writes nothing.  A finite one may still overflow
// inside an updater; step() says so when it has written, so whoever asked for
// the parameters has lost them (Network::apply_update()).

#ifndef DL_LIBCORE_NN_UPDATE_UPDATE_PLAN_H_
#define DL_LIBCORE_NN_UPDATE_UPDATE_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/lane/lane_team.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"
#include "libcore/nn/plan/plan.h"

namespace dl::nn {

class UpdatePlan {
 public:
  // config, layout and memory outlive the plan.
  UpdatePlan(const NetworkConfig& config, const Layout& layout,
             const LaneGradients& gradients, int lanes, Memory& memory);

  // gather(), step() and measure() are called within LaneTeam::run(), by every
  // lane; between them and what is asked for of the first lane's device, all
  // lanes meet.
  //
  // For elements [begin, end), where no tensor is cut: the first gradient
  // becomes the sum of all, in their order; the others are as LaneGradients
  // says.  Once for all elements.
  void gather(int lane, device::Device& device,
              std::span<const tensor::View> gradients, std::int64_t begin,
              std::int64_t end);
  // Whether step() needs what gather() finds: norms of gradients.
  bool has_norms() const;
  // After gather(): sums the lanes' losses, and makes of the norms what
  // gradients are multiplied with.  The first lane alone.
  void judge(device::Device& device, std::span<const tensor::View> losses,
             double most_loss);
  // The gradient becomes the update, or the parameters move by it; guarded:
  // unless judge() found a loss above the most, or anything not finite.  Pieces
  // of what was written are shown to the sink, if there is one; then the device
  // waits after each.
  void step(int lane, device::Device& device, const Position& at,
            device::UpdateTo to, bool guarded, const UpdateSink& sink,
            tensor::View gradient, tensor::View parameters, tensor::View state);
  // After step() of all lanes: sums what it found.  The first lane alone.
  void judge_written(device::Device& device);
  // Result of judge() and judge_written(). Waits for the device.
  struct StepResult {
    double loss;
    bool gradient_finite, update_finite;
  };
  StepResult found(device::Device& device);
  // l1 |w| + l2/2 w^2; score() is the sum afterwards.
  void measure(int lane, device::Device& device, tensor::View parameters);
  double score(device::Device& device);

 private:
  struct Piece {
    std::int64_t begin, end;
    std::size_t segment;
    std::int64_t in_lane;  // where it begins in a LaneGradients, or kNone
    tensor::View part_of(tensor::View flat) const {
      return flat.at(begin, {end - begin});
    }
  };
  // Rule of training for a tensor.
  struct Rule {
    bool frozen;
    GradientNormalization normalization;
    double threshold, l1, l2;
    double decay;  // of weights, without the learning rate
    std::size_t group_begin, group_end;  // pieces its norm is taken over
    const StateRange* range;
  };

  void cut(const Layout& layout, const LaneGradients& gradients,
           std::int64_t piece);
  void count_trained();
  bool only_checked(std::size_t piece) const;
  std::size_t piece_at(std::int64_t element) const;
  // Where in [first, last) of the pieces a lane's begin, lane() of them all.
  std::size_t deal(std::size_t first, std::size_t last, int lane) const;
  std::size_t deal(int lane) const { return deal(0, pieces_.size(), lane); }
  Rule rule_of(const NetworkConfig& config, const Layout& layout,
               std::size_t segment) const;
  static tensor::View number(tensor::View numbers, std::size_t i) {
    return numbers.at(static_cast<std::int64_t>(i), {1});
  }
  device::UpdaterStep step_of(std::size_t segment, const Position& at,
                              bool guarded) const;
  device::StateViews components(tensor::View state, const Rule& rule,
                                const Piece& piece) const;

  std::vector<Piece> pieces_;
  std::vector<Rule> rules_;  // by segment
  // Parameters that are trained before each piece, and in all.
  std::vector<std::int64_t> trained_;
  int lanes_;
  // Numbers on the device, NaN where something is not finite.  By piece: of
  // gather(), squares of the gradient where its norm matters; of step() or
  // measure(), 0 or the score.  By segment: what gradients are multiplied with.
  tensor::View gathered_, written_, factors_;
  // The loss, of all that was gathered, and of all that was written.
  tensor::View totals_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_UPDATE_PLAN_H_
