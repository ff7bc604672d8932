// An axis: its bounds, and where it has ticks.

#ifndef DL_LIBCORE_PLOT_AXIS_H_
#define DL_LIBCORE_PLOT_AXIS_H_

#include <string>
#include <vector>

namespace dl::plot {

struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  double low = 0, high = 1;
  std::vector<Tick> ticks;
  // 0 at low, 1 at high.
  double place(double value) const { return (value - low) / (high - low); }
};

// About `wanted` ticks at 1, 2 or 5 times a power of ten, at least `apart` from
// each other.  round: the bounds are widened to ticks.
Axis axis_of(double low, double high, int wanted, bool round, double apart = 0);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_AXIS_H_
