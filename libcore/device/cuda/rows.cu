// Arithmetic on rows, and choosing among arrays and rows.

#include <algorithm>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

using tensor::View;

namespace {

// Inputs of extreme() as a kernel takes them.
struct RowInputs {
  static constexpr int kMost = 8;
  Reals x[kMost];
  int first, count;
};

// y and which hold the best of the inputs before, if there were any.
void choose(Stream& stream, Reals y, std::int32_t* which,
            const RowInputs& inputs, float sign, std::int64_t n) {
  each(stream, n, [=] DL_DEVICE(std::int64_t i) {
    const bool begins = inputs.first == 0;
    float best = begins ? inputs.x[0][i] : y[i];
    std::int32_t found = begins ? 0 : which[i];
    for (int k = begins ? 1 : 0; k < inputs.count; ++k) {
      const float value = inputs.x[k][i];
      if (!(sign * value <= sign * best) && best == best) {
        best = value;
        found = inputs.first + k;
      }
    }
    y.set(i, best);
    which[i] = found;
  });
}

// The steps of one example that count, in the reverse order; others stay.
// Threads look at as many steps each, side by side.
struct ReverseSteps {
  std::int64_t steps;
  Reals mask;
  std::int32_t *index, *counting;  // counting: room for the steps that count

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t row = b.index * steps;
    const std::int64_t width = (steps + b.threads - 1) / b.threads;
    const std::int64_t begin = b.thread * width;
    const std::int64_t end = begin + width < steps ? begin + width : steps;
    auto* const counts = reinterpret_cast<std::int32_t*>(b.shared);
    counts[b.thread] = 0;
    for (std::int64_t t = begin; t < end; ++t)
      counts[b.thread] += mask[row + t] != 0 ? 1 : 0;
    b.sync();
    std::int32_t before = 0, all = 0;
    for (unsigned k = 0; k < b.threads; ++k) {
      if (k == b.thread) before = all;
      all += counts[k];
    }
    std::int32_t* const places = counting + row;
    std::int32_t rank = before;
    for (std::int64_t t = begin; t < end; ++t)
      if (mask[row + t] != 0) places[rank++] = static_cast<std::int32_t>(t);
    b.sync();
    rank = before;
    for (std::int64_t t = begin; t < end; ++t) {
      const bool counted = mask[row + t] != 0;
      index[row + t] = static_cast<std::int32_t>(
          row + (counted ? places[all - 1 - rank] : t));
      if (counted) ++rank;
    }
  }
};

}  // namespace

void CudaDevice::extreme(View y, View which, std::span<const View> inputs,
                         tensor::Extreme kind) {
  check_extreme(kReals, y, which, inputs);
  const float sign = kind == tensor::Extreme::kMax ? 1 : -1;
  for (std::size_t first = 0; first < inputs.size();
       first += RowInputs::kMost) {
    RowInputs some{{}, static_cast<int>(first), 0};
    for (const View& x : inputs.subspan(
             first,
             std::min<std::size_t>(RowInputs::kMost, inputs.size() - first)))
      some.x[some.count++] = Reals(x);
    choose(stream_, Reals(y), which.as<std::int32_t>(), some, sign,
           y.elements());
  }
}

void CudaDevice::take_where(View dx, View dy, View which, std::int32_t j) {
  check_take(kReals, dx, dy, which);
  const Reals to(dx), from(dy);
  const std::int32_t* const chosen = which.as<std::int32_t>();
  each(stream_, dx.elements(), [=] DL_DEVICE(std::int64_t i) {
    to.set(i, chosen[i] == j ? from[i] : 0);
  });
}

void CudaDevice::dot_rows(View s, View a, View b) {
  const Rows rows = check_row_values(kReals, a, s);
  check_reals({b});
  check_same_shape(a, b);
  const Reals to(s), left(a), right(b);
  const std::int64_t length = rows.length;
  reduce_rows(
      stream_, s.elements(), length, 0.0,
      [=] DL_DEVICE(std::int64_t i, std::int64_t j) {
        return double{left[i * length + j]} * right[i * length + j];
      },
      Sum{},
      [=] DL_DEVICE(std::int64_t i, double sum) {
        to.set(i, static_cast<float>(sum));
      });
}

void CudaDevice::scale_rows(View y, View x, View s, bool add) {
  const Rows rows = check_row_values(kReals, x, s);
  check_reals({y});
  check_equal_elements(y, x);
  const Reals to(y), from(x), factors(s);
  const std::int64_t length = rows.length;
  each(stream_, y.elements(), [=] DL_DEVICE(std::int64_t i) {
    const float value = from[i] * factors[i / length];
    to.set(i, add ? to[i] + value : value);
  });
}

void CudaDevice::choose_steps(View index, View mask, StepChoice choice) {
  check_choice(kReals, index, mask, choice);
  const std::int64_t n = mask.shape[0], steps = mask.shape[1];
  std::int32_t* const to = index.as<std::int32_t>();
  const Reals from(mask);
  if (choice == StepChoice::kReversed) {
    blocks(stream_, n, threads_for(steps), sizeof(std::int32_t),
           ReverseSteps{steps, from, to,
                        stream_.scratch<std::int32_t>(mask.elements())});
    return;
  }
  if (choice == StepChoice::kHeld) {
    each(stream_, n, [=] DL_DEVICE(std::int64_t i) {
      std::int64_t held = -1;
      for (std::int64_t t = i * steps; t < (i + 1) * steps; ++t) {
        if (from[t] != 0) held = t;
        to[t] = static_cast<std::int32_t>(held < 0 ? t : held);
      }
    });
    return;
  }
  reduce_rows(
      stream_, n, steps, std::int64_t{0},
      [=] DL_DEVICE(std::int64_t i, std::int64_t t) {
        return from[i * steps + t] != 0 ? t : std::int64_t{0};
      },
      Largest{},
      [=] DL_DEVICE(std::int64_t i, std::int64_t last) {
        to[i] = static_cast<std::int32_t>(i * steps + last);
      });
}

void CudaDevice::gather(View y, View table, View index) {
  const Rows rows = check_gather(kReals, y, table, index);
  const Reals to(y), from(table);
  const std::int32_t* const row = index.as<std::int32_t>();
  const std::int64_t length = rows.length;
  each(stream_, y.elements(), [=] DL_DEVICE(std::int64_t i) {
    to.set(i, from[row[i / length] * length + i % length]);
  });
}

}  // namespace dl::device::cuda
