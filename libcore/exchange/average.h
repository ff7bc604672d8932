// Weighted averages of flat vectors, in an order of their own.

#ifndef DL_LIBCORE_EXCHANGE_AVERAGE_H_
#define DL_LIBCORE_EXCHANGE_AVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dl::exchange {

// Averages what `slots` replicas contribute.  Contributions may arrive in any
// order; they are summed in double, in the order of their slots, so the result
// does not depend on who was first.
class Average {
 public:
  Average(std::size_t slots, std::size_t elements);

  // weight >= 0, finite; with weight 0 the values may be left out.  A slot is
  // put once (kBug).
  // Throws Error: kProtocol, the size differs or a value is not finite; the
  // slot is then as before.
  void put(std::size_t slot, std::vector<float> values, double weight);
  bool complete() const;  // every slot was put; weight 0 counts as put
  // Sum of weight * values over sum of weights, rounded to float.  Only when
  // complete, and some weight is positive (kBug).
  std::vector<float> result() const;

 private:
  struct Part {
    std::vector<float> values;
    double weight = 0;
  };
  std::size_t elements_;
  std::vector<std::optional<Part>> parts_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_AVERAGE_H_
