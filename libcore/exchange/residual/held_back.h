// An estimate of what the other workers hold back of their updates, from one's
// own residual.
//
// Where another worker sends a quantum, its residual has just reached it.  The
// mean of what the own residual is there, by the quantum, is what one residual
// tells of another: rho, 1 if they are alike, 0 if they have nothing in common.
// For N - 1 others the sum is then (N - 1) rho r at the best guess.
//
// That is trusted little at first, and by 1 - 1/e after kRounds messages of
// each of the others: on the plateau that many a loss begins with, all drift
// alike, and nowhere.
//
// Not thread-safe.

#ifndef DL_LIBCORE_EXCHANGE_RESIDUAL_HELD_BACK_H_
#define DL_LIBCORE_EXCHANGE_RESIDUAL_HELD_BACK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold_reader.h"

namespace dl::exchange {

// <u, r> and <u, u> of a message's update u and a residual r.
struct Overlap {
  double product = 0, square = 0;
};
// r of as many elements; value(index) is called for its quanta, in their order.
// Throws Error: kProtocol, as decode_threshold().
template <typename Value>
Overlap overlap_of(std::span<const std::byte> message, std::size_t elements,
                   const Value& value) {
  ThresholdReader reader(message);
  require(reader.elements() == elements, "size of the residual");
  Overlap overlap;
  while (reader.next()) {
    const auto size = static_cast<double>(reader.threshold());
    double there = 0;
    for (const Quantum& q : reader.quanta()) {
      const float r = value(q.index);
      there += static_cast<double>(q.negative ? -r : r);
    }
    overlap.product += size * there;
    overlap.square += size * size * static_cast<double>(reader.quanta().size());
  }
  return overlap;
}

class HeldBack {
 public:
  // Notes that a message of another worker came, of so many workers, and
  // returns whether hear() wants it.  Some four messages in a round of all
  // workers are enough.
  bool listens(std::int64_t workers);
  // Takes in the overlap of a message with the own residual when it came.
  void hear(const Overlap& overlap);
  // Forgets everything and starts anew.
  void forget() { *this = {}; }

  // Estimate of the residuals of the others, of so many workers, in multiples
  // of the own residual: 0 to `workers` - 1.
  double times(std::int64_t workers) const;

 private:
  double rounds_ = 0;  // number of rounds that were heard
  std::int64_t looked_at_ = 0;
  double product_ = 0, square_ = 0;  // means of <u, r> and <u, u>
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RESIDUAL_HELD_BACK_H_
