// Numbers that change in the course of training, dl-network(5).

#ifndef DL_LIBCORE_NN_UPDATE_SCHEDULE_H_
#define DL_LIBCORE_NN_UPDATE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/nn/config/names.h"

namespace dl::nn {

// With i the iterations or epochs before this one, each kind is its formula
// times min(1, (i + 1) / warmup).  With warmup_from the first `warmup` of them
// lead from that in a straight line to the formula's first value, and i counts
// from behind them.
struct Schedule {
  enum class Kind {
    kFixed,        // initial
    kStep,         // initial decay^floor(i / every)
    kExponential,  // initial decay^i
    kPolynomial,   // initial (1 - i / limit)^power, 0 from i = limit on
    kInverse,      // initial / (1 + decay floor(i / every))^power
    kSigmoid,      // initial / (1 + exp(decay (i - middle)))
    kCosine,       // from initial to last by half a cosine, at i = limit;
                   // with a growth again and again, each growth times as
                   // long and its share of initial decay times as large
    kCycle,        // up to peak, down, and below initial, again and again
    kMap           // the value of the last key up to i
  };
  Kind kind = Kind::kFixed;
  bool by_epoch = false;  // counts epochs instead of iterations
  double initial = 0;
  double decay = 0, every = 1, power = 1, limit = 1;
  double middle = 0, last = 0;
  double peak = 0, length = 1;
  double annealing = 0;  // the share of a cycle at its end
  double growth = 0;     // 0: there is one cosine
  // Ascending, from 0.
  std::vector<std::pair<std::int64_t, double>> values = {};
  std::int64_t warmup = 0;
  std::optional<double> warmup_from = {};

  double at(std::int64_t iteration, std::int64_t epoch) const;
  // No value is larger; it may be infinite.
  double largest() const;
  bool operator==(const Schedule&) const = default;
};

// A number, or what check_document() has nothing against; and back, with every
// default spelt out but that there is no warm-up.
Schedule schedule_of(const Json& json);
Json to_json(const Schedule& schedule);

template <>
std::span<const std::string_view> names_of<Schedule::Kind>();

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_SCHEDULE_H_
