// From gradient to update: gradient normalisation, l1 and l2, updaters.
//
// The flat vectors are cut into pieces that fit a core's cache, none across
// two tensors.  A piece takes all its steps at once, and the pieces are dealt
// to the lanes in runs of equal length.  Pieces do not depend on the number of
// lanes, and norms are summed over pieces in order, so results do not either.

#ifndef DL_LIBCORE_NN_UPDATE_PLAN_H_
#define DL_LIBCORE_NN_UPDATE_PLAN_H_

#include <cstdint>
#include <vector>

#include "libcore/nn/config.h"
#include "libcore/nn/lane_team.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/network.h"
#include "libcore/tensor/device.h"

namespace dl::nn {

class UpdatePlan {
 public:
  // config and layout outlive the plan.
  UpdatePlan(const NetworkConfig& config, const Layout& layout, int lanes);

  // All of these are called within LaneTeam::run(), by every lane.
  //
  // The gradient becomes the update.
  void update(int lane, tensor::Device& device, LaneTeam& team,
              const Position& at, tensor::View gradient,
              tensor::View parameters, tensor::View state);
  // Gathers l1 |w| + l2/2 w^2; score() is the sum afterwards.
  void measure(int lane, tensor::Device& device, tensor::View parameters);
  double score() const;

  // The lane's part of the flat vectors.
  std::int64_t begin(int lane) const;
  std::int64_t end(int lane) const;

 private:
  struct Piece {
    std::int64_t begin, end;
    std::size_t segment;
    tensor::View part_of(tensor::View flat) const {
      return flat.at(begin, {end - begin});
    }
  };
  // What a tensor's training says.
  struct Rule {
    GradientNormalization normalization;
    double threshold, l1, l2;
    std::size_t group_begin, group_end;  // pieces its norm is taken over
    const StateRange* range;
  };

  void cut(const Layout& layout);
  Rule rule_of(const NetworkConfig& config, const Layout& layout,
               std::size_t segment) const;
  // What to multiply with: 1 where nothing is to be done.
  double factor(const Rule& rule) const;
  tensor::View component(tensor::View state, const Rule& rule,
                         const Piece& piece, int index) const;

  std::vector<Piece> pieces_;
  std::vector<Rule> rules_;        // by segment
  std::vector<std::size_t> deal_;  // lane i: pieces [deal_[i], deal_[i + 1])
  std::vector<double> sums_;       // by piece
  bool needs_norms_ = false;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_PLAN_H_
