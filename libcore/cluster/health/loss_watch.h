// Detection of divergence from a run's own history.
//
// Losses are added up to blocks of some mini-batches, and each block is held
// against two levels: the lowest that the run's smoothed loss has had, and
// where it came from: the loss of a constant prediction where that is known,
// else that of the first block.  A block that gives back half of the way
// between them, and stands out of the noise, is wrong.  Wrong blocks count by
// how much they give back, sound ones against them: a spike passes, a loss that
// stays up does not.  While there is no way yet, a block is wrong whose loss is
// twice that of the first one; where that is far above the loss of a constant
// prediction, one whose loss is twice what it was of late: networks may start
// high, if they come down from there.
//
// One step may also end a network: its loss jumps, and is that of a constant
// prediction from then on, as its units have died.  Some blocks like that
// behind a jump are wrong, however little the run had learnt before.  More such
// blocks behind a small jump, or where the loss had begun to fall, may be of
// data that cannot be learnt: may_have_died(), once in a run.
//
// It counts mini-batches and examples, never time, and depends on nothing but
// what add() was told: a replay of the update log comes to the same verdict.
// Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_HEALTH_LOSS_WATCH_H_
#define DL_LIBCORE_CLUSTER_HEALTH_LOSS_WATCH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libcore/base/json.h"

namespace dl::cluster {

class LossWatch {
 public:
  // A block has at least so many of both, and as many as updates are late: N
  // workers shake for some rounds of N mini-batches before they find their way.
  static constexpr std::int64_t kBlockBatches = 16;
  static constexpr std::int64_t kBlockExamples = 512;
  // Blocks like that of a constant prediction, in a row, until wrong().
  static constexpr double kEnough = 8;

  // The loss of a constant prediction; the first call counts.
  void expect(double chance);

  // An update, or a round of averaging, was applied and gave this version of
  // the parameters.  loss_sum: mean loss of each mini-batch times its examples,
  // before the update.  applied: sum of |what was added to parameters|; 0: not
  // known.  staleness: so many updates before it had not been seen by it.
  // together: all its mini-batches had the parameters from before it.
  void add(std::uint64_t version, std::int64_t batches, std::int64_t examples,
           double loss_sum, double applied, std::span<const float> parameters,
           std::uint64_t staleness = 0, bool together = false);

  // Whether training has gone wrong, and has not mended itself.
  bool wrong() const { return evidence_ >= enough() || has_died(); }
  // Whether there is no more than a reason to try again from before.
  bool may_have_died() const;
  // Makes may_have_died() false from now on.
  void trust() { trusted_ = true; }
  // Whether all wrong blocks have been made up for.
  bool sound() const { return evidence_ <= 0 && !has_died(); }
  // Whether the last blocks are wrong, so that a run should not stop here.
  bool ends_badly() const;
  // Whether, after many blocks, the loss has never been lower than that of a
  // constant prediction, where that is known.
  bool learnt_nothing() const;
  // Whether a loss has jumped, and no block since then was better than a
  // constant prediction.
  bool has_jumped() const;
  // Whether the loss jumped in the first block, and the network looks dead; it
  // may have begun with such a loss, as the first call was of a replica that
  // trained.
  bool asks_for_start() const;
  // The answer: the loss of the parameters that it began with.
  void begun_with(double loss);
  // Whether the newest loss is twice that of a constant prediction, where that
  // is known.
  bool is_worse_than_chance() const;

  std::int64_t blocks() const { return blocks_; }  // number of blocks so far
  double best() const { return best_; }            // lowest smoothed loss
  double level() const { return level_; }          // present smoothed loss
  // Version from which on blocks were wrong.
  std::uint64_t since() const {
    return has_died() || may_have_died() ? jumped_ : onset_;
  }
  // The newest version whose losses were sound, as seen from behind.
  std::uint64_t sound_version() const { return sound_; }
  // The loss that the run has come to, its standard error, and that of the last
  // few calls alone; none: before the first block it is too early to tell.
  struct Recent {
    double loss = 0, error = 0, last = 0;
  };
  std::optional<Recent> recent() const;
  // The last losses of a run that has no block yet; none: it has one, or no
  // losses.  error: the standard error of the loss; none: too few tell.
  struct Brief {
    std::int64_t batches = 0, examples = 0;
    double loss = 0, mean = 0;  // loss of late, and mean of all losses
    std::optional<double> error;
  };
  std::optional<Brief> brief() const;
  // Describes the divergence: "the loss is 2.3 on average of the last 150
  // mini-batches and was 0.7 before; ...".
  std::string describe() const;

  // Whether parameters with this loss have lost little of what was learnt; or
  // are worse than any that a run may start from.
  bool is_near_best(double loss) const;
  bool is_hopeless(double loss) const;

  // Continues from `version`, which is good, with smaller steps.  wrong: the
  // watch that the run had come to.
  void start_again(std::uint64_t version, const LossWatch& wrong);
  // Replaces losses that were false by the true loss; the run continues as it
  // is.
  void start_over(std::uint64_t version, double loss);

  Json to_json() const;
  // Throws Error with the view's code.
  void restore(const JsonView& json);

 private:
  // A quantity measured besides the loss: while training was sound, and now.
  struct Measure {
    double sound = 0, now = 0;
    bool has_grown() const;
  };

  bool has_died() const;
  double highest_start() const;
  void note_jump(double loss, bool together);
  void count_dead(double loss);
  void close_block(std::span<const float> parameters, std::int64_t least);
  void note_bend(double loss, std::int64_t batches);
  void learn_variance();
  double error() const;
  double way() const;
  bool has_gained() const { return way() > 0; }
  double given_back(double loss) const;
  bool is_far(double loss) const;
  double share_of(double loss);
  double enough() const;

  std::optional<double> chance_;
  double first_ = 0, best_ = 0, level_ = 0;  // set once there is a block
  double newest_ = 0;                        // loss of the last block
  // The mean of the logarithms of blocks that are far from chance.
  std::optional<double> trend_;
  // size_: batches of the last block.
  std::int64_t blocks_ = 0, size_ = kBlockBatches;
  double variance_ = 0;           // variance of a mini-batch's loss
  std::int64_t spreads_ = 0;      // number of spreads in variance_
  double smoothed_ = 0;           // mean of the last few losses
  double last_ = 0, before_ = 0;  // losses of the last two calls
  std::int64_t calls_ = 0;

  // The loss of the first mini-batch, 0: not known; and since a jump, or since
  // the loss began to fall: the version before it, the highest loss, 0: there
  // was none, and blocks no better than a constant prediction.
  std::optional<double> begun_with_;
  std::uint64_t jumped_ = 0;
  double jump_ = 0;
  std::int64_t dead_blocks_ = 0;
  bool trusted_ = false;  // whether may_have_died() is no longer asked

  // State of the open block.
  std::uint64_t begun_ = 0;  // version before the block
  std::int64_t batches_ = 0, examples_ = 0, bends_ = 0;
  double loss_sum_ = 0, applied_sum_ = 0, bend_sum_ = 0;

  double evidence_ = 0;
  std::uint64_t onset_ = 0, sound_ = 0;
  std::int64_t wrong_batches_ = 0;
  double wrong_loss_ = 0;  // sum of the losses of wrong blocks
  Measure norm_, applied_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_HEALTH_LOSS_WATCH_H_
