// The scores that one output gave to positives and to negatives: what a ROC
// curve is made of.  Either every score, sorted when it is asked for, or
// counts over equal intervals.

#ifndef DL_LIBCORE_EVAL_SCORES_H_
#define DL_LIBCORE_EVAL_SCORES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/eval/curve.h"

namespace dl::eval {

// Two Scores that were given the same scores are equal, in whatever order.
class Scores {
 public:
  // steps == 0: exact, 4 bytes an example.  Else the thresholds are 0, 1/steps,
  // ..., 1, and two scores are told apart if one lies between; scores outside
  // 0..1 count as the nearer end.
  explicit Scores(std::int64_t steps);

  void add(float score, bool positive);  // score: finite
  void merge(const Scores& other);       // of equally many steps

  // From the highest score down.
  std::vector<Step> curve() const;
  // The positives and negatives whose scores are at least that; of counted
  // ones, those of the intervals from there on.
  std::pair<std::int64_t, std::int64_t> reaching(double threshold) const;
  std::int64_t positives() const;
  std::int64_t negatives() const;

  // Exact: [[positives], [negatives]], each the sorted scores as gaps between
  // integers that order as the floats do.  Else [[counts], [counts]].
  Json to_json() const;
  void read(const JsonView& json);  // throws Error of the view's code

 private:
  struct Side {
    std::vector<float> scores;         // exact; sorted by sort()
    std::vector<std::int64_t> counts;  // else: steps + 1 of them
    bool sorted = true;
    void sort();
    std::int64_t size() const;
  };
  std::vector<Step> exact_curve() const;
  Json to_json(Side& side) const;
  void read(Side& side, const JsonView& json) const;

  std::int64_t steps_;
  mutable Side positive_, negative_;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_SCORES_H_
