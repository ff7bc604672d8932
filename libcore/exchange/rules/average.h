// Weighted averages of flat vectors, in an order of their own.

#ifndef DL_LIBCORE_EXCHANGE_RULES_AVERAGE_H_
#define DL_LIBCORE_EXCHANGE_RULES_AVERAGE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dl::exchange {

// Number of consecutive slots in a group, and of groups in a larger group.
constexpr std::size_t kAverageGroup = 8;

// Part of an average: the sum of weight * value over some slots.
struct WeightedSum {
  std::vector<float> values;  // empty if the weight is 0
  double weight = 0;
};

// Averages what `slots` replicas contribute.  Contributions may arrive in any
// order, and some of them as sums that others have made; they are summed in
// double, in the order of their slots, so the result does not depend on who was
// first.
//
// Nor on who made which sums: kAverageGroup consecutive slots make a group, so
// many groups a larger one, until at most so many parts are left.  The sum of
// each group is rounded to float, whoever makes it.  One that passes the
// largest float is infinite, and the result is not finite.
class Average {
 public:
  Average(std::size_t slots, std::size_t elements);

  // weight >= 0, finite; with weight 0 the values may be left out.  A slot is
  // put once (kBug).
  // Throws Error: kProtocol, the size differs or a value is not finite; the
  // slot is then as before.
  void put(std::size_t slot, std::vector<float> values, double weight);
  // Puts the sum() that another Average made of the slots [first, first +
  // count). They are a group: count is a power of kAverageGroup, or what is
  // left of the slots, and first a multiple of that power; none of them was put
  // before (kBug). Throws Error: kProtocol, as put() does; the slots are then
  // as before.
  void put_sum(std::size_t first, std::size_t count, WeightedSum sum);
  bool complete() const;  // whether every slot was put, also with weight 0
  // Sum of all slots, as the sum of a group. Only when complete (kBug).
  WeightedSum sum() const;
  // Sum of weight * values over sum of weights, rounded to float.  Only when
  // complete, not from a sum of all slots, which was rounded before, and if
  // some weight is positive (kBug).
  std::vector<float> result() const;

 private:
  struct Part {
    WeightedSum of;     // of a single slot, its values without weight
    std::size_t count;  // number of slots; 0 for a single slot as put
  };
  // The part that begins at `first` if it is the whole group of `size` slots.
  const Part* whole(std::size_t first, std::size_t size) const;
  // Visits the parts of the group [first, first + size): calls visit(part) for
  // those that were put and descend(first, size) for groups.
  template <typename Visit, typename Descend>
  void walk(std::size_t first, std::size_t size, const Visit& visit,
            const Descend& descend) const;
  double weight(std::size_t first, std::size_t size) const;
  void add(std::size_t first, std::size_t size, std::size_t at,
           std::span<double> sums) const;
  std::vector<float> total(double divisor) const;  // sum / divisor, rounded

  std::size_t elements_;
  std::size_t all_;                         // size of a group of all slots
  std::vector<std::optional<Part>> parts_;  // indexed by their first slots
  std::vector<bool> put_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_AVERAGE_H_
