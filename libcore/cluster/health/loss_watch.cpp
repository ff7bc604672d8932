// Detection of divergence in the losses of mini-batches.

#include "libcore/cluster/health/loss_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

constexpr double kSmooth = 0.25;  // weight of a block in the level
constexpr double kSpread = 0.02;  // ... of a call in the variance, at the least
constexpr double kStandsOut = 6;  // standard deviations of a block's loss
constexpr double kWrong = 0.5;    // given back
constexpr double kLost = 0.8;     // ... where a run ends
constexpr double kNearBest = 0.25;  // given back: as good as the best
constexpr double kMostForBlock = 2;
constexpr double kFar = 10;          // times the loss of a constant prediction
constexpr double kFarSmooth = 0.5;   // weight of a block in what it was of late
constexpr double kHigher = 2;        // times that
constexpr double kLongestBlock = 4;  // a block counts as so many at most
constexpr double kGrowth = 4;        // beside the loss: no longer usual
constexpr std::int64_t kNormEvery = 8;  // blocks
constexpr std::uint64_t kMostStale = 4096;
constexpr std::int64_t kWrongAtEnd = 32;  // mini-batches
constexpr std::int64_t kManyBlocks = 64;
constexpr std::int64_t kFewBends = 6;  // tell the noise of a short run
constexpr double kSmoothed = 5;        // calls count in a smoothed loss
constexpr double kJump = 3;     // times what it was at first, or of chance
constexpr double kRise = 1.5;   // ... that may have been one
constexpr double kLeft = 0.85;  // times chance: it was on its way
constexpr double kDead = 1.1;   // times chance: what shakes more is not dead
constexpr std::int64_t kDeadBlocks = 4, kDeadBlocksInDoubt = 8;
// Shares of the loss of a constant prediction: nothing is learnt of less, or of
// less than the noise, but for so much of that.
constexpr double kLearnt = 0.02, kMostNoise = 0.25;

double norm_of(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

std::string short_number(double value) { return format("%.3g", value); }

}  // namespace

bool LossWatch::Measure::has_grown() const {
  return sound > 0 && now > kGrowth * sound;
}

void LossWatch::expect(double chance) {
  if (!chance_) chance_ = chance;
}

void LossWatch::add(std::uint64_t version, std::int64_t batches,
                    std::int64_t examples, double loss_sum, double applied,
                    std::span<const float> parameters, std::uint64_t staleness,
                    bool together) {
  if (examples <= 0 || batches <= 0 || !std::isfinite(loss_sum)) return;
  if (batches_ == 0) begun_ = version > 0 ? version - 1 : 0;
  if (blocks_ == 0 && batches_ == 0 && sound_ == 0) sound_ = begun_;
  note_bend(loss_sum / static_cast<double>(examples), batches);
  note_jump(loss_sum / static_cast<double>(examples), batches == 1 || together);
  batches_ += batches;
  examples_ += examples;
  loss_sum_ += loss_sum;
  applied_sum_ += applied;
  const auto late = static_cast<std::int64_t>(std::min(staleness, kMostStale));
  const std::int64_t least = std::max(kBlockBatches, late * batches);
  if (batches_ >= least && examples_ >= kBlockExamples)
    close_block(parameters, least);
}

// Networks may start high, but not those that a round of several mini-batches
// has trained.
void LossWatch::note_jump(double loss, bool together) {
  if (!begun_with_) begun_with_ = together ? loss : 0;
  if (!chance_) return;
  const bool left = smoothed_ < kLeft * *chance_;
  if (!left && loss <= kRise * highest_start()) return;
  if (jump_ == 0) jumped_ = begun_;
  jump_ = std::max(jump_, loss);
}

double LossWatch::highest_start() const {
  return std::max(*chance_, begun_with_.value_or(0));
}

bool LossWatch::has_jumped() const {
  return jump_ > 0 && jump_ > kJump * highest_start();
}

bool LossWatch::asks_for_start() const {
  return begun_with_ == 0.0 && jump_ > 0 && jumped_ == 0 &&
         (has_died() || may_have_died());
}

void LossWatch::begun_with(double loss) {
  begun_with_ = loss;
  if (jump_ > kRise * highest_start()) return;
  jump_ = 0;
  dead_blocks_ = 0;
}

// The loss of a block.
void LossWatch::count_dead(double loss) {
  if (jump_ == 0) return;
  if (loss >= (1 - kLearnt) * *chance_) {
    if (loss < kDead * *chance_) ++dead_blocks_;
    return;
  }
  jump_ = 0;
  dead_blocks_ = 0;
}

bool LossWatch::has_died() const {
  return has_jumped() && dead_blocks_ >= kDeadBlocks;
}

bool LossWatch::may_have_died() const {
  return !trusted_ && dead_blocks_ >= kDeadBlocksInDoubt;
}

// Second differences see no trend.
void LossWatch::note_bend(double loss, std::int64_t batches) {
  smoothed_ += (smoothed_ == 0 ? 1 : kSmooth) * (loss - smoothed_);
  if (calls_ >= 2) {
    const double bend = loss - 2 * last_ + before_;
    bend_sum_ += bend * bend / 6 * static_cast<double>(batches);
    ++bends_;
  }
  before_ = last_;
  last_ = loss;
  calls_ = std::min<std::int64_t>(calls_ + 1, 2);
}

// Learns from sound blocks alone: a jump is no noise.
void LossWatch::learn_variance() {
  if (bends_ == 0) return;
  spreads_ += bends_;
  const auto count = static_cast<double>(bends_);
  const double weight = std::min(
      1.0, std::max(kSpread * count, count / static_cast<double>(spreads_)));
  variance_ += weight * (bend_sum_ / count - variance_);
}

// Error of a block's loss: its standard deviation.
double LossWatch::error() const {
  return std::sqrt(variance_ / static_cast<double>(size_));
}

// From where the run came to its best; 0: nothing that stands out.  The first
// small steps of a warm-up lower every loss by a little.
double LossWatch::way() const {
  if (chance_ && *chance_ > best_)
    return *chance_ - best_ > kLearnt * *chance_ ? *chance_ - best_ : 0;
  return first_ - best_ > kStandsOut * error() ? first_ - best_ : 0;
}

// Share of the way that a loss gives back; 1: all of it.
double LossWatch::given_back(double loss) const {
  const double noise = kStandsOut * error() / kWrong;
  const double unit =
      std::max(noise, has_gained() ? way() : std::fabs(first_) / kWrong);
  return unit > 0 ? (loss - (has_gained() ? best_ : first_)) / unit : 0;
}

bool LossWatch::is_worse_than_chance() const {
  return calls_ > 0 && chance_ && last_ > kHigher * *chance_;
}

bool LossWatch::is_far(double loss) const {
  return chance_ && loss > kFar * *chance_;
}

// Share of the way that a block gives back.
double LossWatch::share_of(double loss) {
  if (has_gained() || !is_far(loss)) return given_back(loss);
  if (!trend_) trend_ = std::log(kFar * *chance_);
  const double distance = std::log(loss) - *trend_;
  *trend_ += kFarSmooth * distance;
  return distance > std::log(kHigher) ? kMostForBlock : 0;
}

// Before there is much to lose, training may take longer to find its way.
double LossWatch::enough() const {
  return way() > kStandsOut * error() ? kEnough : 2 * kEnough;
}

void LossWatch::close_block(std::span<const float> parameters,
                            std::int64_t least) {
  const double loss = loss_sum_ / static_cast<double>(examples_);
  const double applied = applied_sum_ / static_cast<double>(batches_);
  // Neither is to be so far away that nothing stands out any more.
  const double near = is_far(loss) ? kFar * *chance_ : loss;
  if (blocks_ == 0) first_ = best_ = level_ = near;
  ++blocks_;
  const double length =
      std::clamp(static_cast<double>(batches_) / static_cast<double>(least),
                 1.0, kLongestBlock);
  // One block alone, as of examples that stand out, is not what it has come to.
  const double counted =
      has_gained() ? std::min(near, best_ + kMostForBlock * way()) : near;
  level_ += (1 - std::pow(1 - kSmooth, length)) * (counted - level_);
  best_ = std::min(best_, level_);
  const double share = share_of(loss);
  applied_.now = applied;
  if (blocks_ % kNormEvery == 1 || evidence_ > 0)
    norm_.now = norm_of(parameters);
  if (share >= kWrong) {
    if (evidence_ <= 0) {
      onset_ = begun_;
      wrong_batches_ = 0;
      wrong_loss_ = 0;
    }
    const double weight =
        norm_.has_grown() || applied_.has_grown() ? 2 * length : length;
    // One block alone, as long as it may be, is not enough.
    evidence_ = std::min(evidence_ + weight * std::min(share, kMostForBlock),
                         (evidence_ > 0 ? 2 : 0.9) * enough());
    wrong_batches_ += batches_;
    wrong_loss_ += loss * static_cast<double>(batches_);
  } else {
    // No alarm, though less may be enough now than it was.
    evidence_ = std::clamp(evidence_ - length, 0.0, 0.9 * enough());
    if (evidence_ <= 0) learn_variance();
  }
  count_dead(loss);
  newest_ = loss;
  if (sound() && jump_ == 0 && share < kNearBest &&
      given_back(level_) < kNearBest) {
    sound_ = begun_;
    norm_.sound = norm_.now;
    // It rises with a warm-up.
    applied_.sound = std::max(
        applied, applied_.sound + kSmooth * (applied - applied_.sound));
  }
  size_ = batches_;
  batches_ = examples_ = bends_ = 0;
  loss_sum_ = applied_sum_ = bend_sum_ = 0;
}

// There is no later: less has to stand out than while training goes on.
bool LossWatch::ends_badly() const {
  if (wrong()) return true;
  if (evidence_ > 0 && wrong_batches_ >= kWrongAtEnd &&
      given_back(level_) >= kWrong)
    return true;
  const double noise = kStandsOut / 2 * error();
  return has_gained() && level_ - best_ > std::max(noise, kLost * way());
}

bool LossWatch::learnt_nothing() const {
  if (!chance_ || blocks_ < kManyBlocks) return false;
  return best_ > *chance_ - std::clamp(kStandsOut * error(), kLearnt * *chance_,
                                       kMostNoise * *chance_);
}

std::optional<LossWatch::Recent> LossWatch::recent() const {
  if (blocks_ == 0) return std::nullopt;
  return Recent{std::min(newest_, level_), error(), smoothed_};
}

std::optional<LossWatch::Brief> LossWatch::brief() const {
  if (blocks_ > 0 || examples_ == 0) return std::nullopt;
  Brief brief{batches_, examples_, smoothed_,
              loss_sum_ / static_cast<double>(examples_), std::nullopt};
  if (bends_ >= kFewBends) {
    const auto calls = static_cast<double>(bends_ + 2);
    brief.error =
        std::sqrt(bend_sum_ / static_cast<double>(bends_) /
                  (kSmoothed * static_cast<double>(batches_) / calls));
  }
  return brief;
}

std::string LossWatch::describe() const {
  const bool died = has_died();
  if ((died || may_have_died()) && evidence_ < enough())
    return (jump_ > kRise * highest_start()
                ? "the loss jumped to " + short_number(jump_)
                : std::string("the loss had begun to fall")) +
           " after update " + std::to_string(jumped_) +
           " and has been no better since than the " + short_number(*chance_) +
           " of a constant prediction: units " + (died ? "" : "may ") +
           "have died";
  std::string text =
      "the loss is " +
      short_number(wrong_loss_ / static_cast<double>(std::max<std::int64_t>(
                                     1, wrong_batches_))) +
      " over " + std::to_string(wrong_batches_) +
      " mini-batches since update " + std::to_string(onset_) + ", and was " +
      short_number(has_gained() ? best_ : first_) +
      (has_gained() ? " before" : " in the beginning");
  if (has_gained() && chance_ && level_ > 0.9 * *chance_)
    text += " (a constant prediction has " + short_number(*chance_) + ")";
  if (norm_.has_grown())
    text += "; the parameters grew from norm " + short_number(norm_.sound) +
            " to " + short_number(norm_.now);
  if (applied_.has_grown())
    text += "; what is applied for a mini-batch grew " +
            short_number(applied_.now / applied_.sound) + "-fold";
  return text;
}

void LossWatch::start_again(std::uint64_t version, const LossWatch& wrong) {
  trusted_ = wrong.trusted_ || wrong.may_have_died();
  batches_ = examples_ = bends_ = calls_ = wrong_batches_ = 0;
  loss_sum_ = applied_sum_ = bend_sum_ = evidence_ = wrong_loss_ = 0;
  if (blocks_ > 0) level_ = has_gained() ? best_ : first_;
  trend_.reset();
  jump_ = 0;
  dead_blocks_ = 0;
  sound_ = version;
}

bool LossWatch::is_near_best(double loss) const {
  return given_back(loss) < kWrong;
}

bool LossWatch::is_hopeless(double loss) const {
  return loss > (chance_ ? kHigher * *chance_ : kFar * first_);
}

void LossWatch::start_over(std::uint64_t version, double loss) {
  // False losses are no reason to trust what looks dead.
  const bool trusted = trusted_;
  start_again(version, *this);
  trusted_ = trusted;
  first_ = best_ = level_ = newest_ = smoothed_ = loss;
  variance_ = 0;
  spreads_ = 0;
}

Json LossWatch::to_json() const {
  return {{"chance", chance_ ? Json(*chance_) : Json()},
          {"first", first_},
          {"best", best_},
          {"level", level_},
          {"trend", trend_ ? Json(*trend_) : Json()},
          {"blocks", {blocks_, size_}},
          {"newest", newest_},
          {"smoothed", smoothed_},
          {"begun_with", begun_with_ ? Json(*begun_with_) : Json()},
          {"jump", {jumped_, jump_}},
          {"dead_blocks", dead_blocks_},
          {"trusted", trusted_},
          {"variance", variance_},
          {"spreads", spreads_},
          {"last", {last_, before_}},
          {"calls", calls_},
          {"open", {begun_, batches_, examples_, bends_}},
          {"open_sums", {loss_sum_, applied_sum_, bend_sum_}},
          {"evidence", evidence_},
          {"since", onset_},
          {"sound", sound_},
          {"wrong_batches", wrong_batches_},
          {"wrong_loss", wrong_loss_},
          {"norm", {norm_.sound, norm_.now}},
          {"applied", {applied_.sound, applied_.now}}};
}

void LossWatch::restore(const JsonView& json) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto count = [&](const JsonView& view) {
    return view.integer(0, kMost);
  };
  const auto pair = [&](const char* key, double& a, double& b) {
    a = json.at(key).at(0).number();
    b = json.at(key).at(1).number();
  };
  chance_.reset();
  if (!json.at("chance").raw().is_null()) chance_ = json.at("chance").number();
  first_ = json.at("first").number();
  best_ = json.at("best").number();
  level_ = json.at("level").number();
  trend_.reset();
  if (json.has("trend") && !json.at("trend").raw().is_null())
    trend_ = json.at("trend").number();
  newest_ = smoothed_ = level_;
  begun_with_.reset();
  jumped_ = 0;
  jump_ = 0;
  dead_blocks_ = 0;
  if (json.has("jump")) {  // not of early runs
    newest_ = json.at("newest").number();
    smoothed_ = json.at("smoothed").number();
    if (!json.at("begun_with").raw().is_null())
      begun_with_ = json.at("begun_with").number();
    jumped_ = static_cast<std::uint64_t>(count(json.at("jump").at(0)));
    jump_ = json.at("jump").at(1).number();
    dead_blocks_ = count(json.at("dead_blocks"));
    trusted_ = json.has("trusted") && json.at("trusted").boolean();
  }
  blocks_ = count(json.at("blocks").at(0));
  size_ = json.at("blocks").at(1).integer(1, kMost);
  variance_ = json.at("variance").number();
  spreads_ = count(json.at("spreads"));
  pair("last", last_, before_);
  calls_ = count(json.at("calls"));
  begun_ = static_cast<std::uint64_t>(count(json.at("open").at(0)));
  batches_ = count(json.at("open").at(1));
  examples_ = count(json.at("open").at(2));
  bends_ = count(json.at("open").at(3));
  pair("open_sums", loss_sum_, applied_sum_);
  bend_sum_ = json.at("open_sums").at(2).number();
  evidence_ = json.at("evidence").number();
  onset_ = static_cast<std::uint64_t>(count(json.at("since")));
  sound_ = static_cast<std::uint64_t>(count(json.at("sound")));
  wrong_batches_ = count(json.at("wrong_batches"));
  wrong_loss_ = json.at("wrong_loss").number();
  pair("norm", norm_.sound, norm_.now);
  pair("applied", applied_.sound, applied_.now);
}

}  // namespace dl::cluster
