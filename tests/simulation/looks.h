// Scores on held-out data in the course of an epoch: how long a run takes to
// get somewhere.

#ifndef DL_TESTS_SIMULATION_LOOKS_H_
#define DL_TESTS_SIMULATION_LOOKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "libcore/base/json.h"

namespace simulated {

struct Look {
  std::uint64_t batches = 0;  // trained so far, of all workers
  double seconds = 0;         // simulated
  std::map<std::string, double> metrics;

  dl::Json to_json() const {
    return {{"batches", batches}, {"seconds", seconds}, {"metrics", metrics}};
  }
};

class Looks {
 public:
  Looks() = default;  // none
  // After every so many mini-batches, 0: never, at what the run has come to.
  Looks(std::uint64_t every, std::function<void(const Look&)> told)
      : every_(every), told_(std::move(told)) {}

  // After each step of a run; evaluate() gives its scores.
  template <typename Evaluate>
  void look(std::uint64_t batches, double seconds, const Evaluate& evaluate) {
    if (every_ == 0 || batches < seen_ + every_) return;
    seen_ = batches - batches % every_;
    told_({batches, seconds, evaluate()});
  }

 private:
  std::uint64_t every_ = 0, seen_ = 0;
  std::function<void(const Look&)> told_;
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_LOOKS_H_
