// Orders of Keras's numbers in ours.

#include "libcore/convert/import/keras/fills.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::convert::keras {

Fill as_is(const Array& array) {
  return [array](std::span<float> to) {
    require(to.size() == array.values.size(), "weights of another size");
    std::ranges::copy(array.values, to.begin());
  };
}

Fill permuted(const Array& array, std::vector<int> axes,
              std::vector<int> mirrored) {
  return [array, axes = std::move(axes),
          mirrored = std::move(mirrored)](std::span<float> to) {
    require(to.size() == array.values.size(), "weights of another size");
    const int rank = array.shape.rank();
    std::vector<std::int64_t> step(static_cast<std::size_t>(rank), 1);
    for (int k = rank - 1; k-- > 0;)
      step[static_cast<std::size_t>(k)] =
          step[static_cast<std::size_t>(k) + 1] * array.shape[k + 1];
    std::int64_t from = 0;
    for (const int axis : mirrored) {
      from += (array.shape[axis] - 1) * step[static_cast<std::size_t>(axis)];
      step[static_cast<std::size_t>(axis)] *= -1;
    }
    // Counts through the result, the last axis fastest.
    std::vector<std::int64_t> at(static_cast<std::size_t>(rank), 0);
    for (float& value : to) {
      value = array.values[static_cast<std::size_t>(from)];
      for (std::size_t i = axes.size(); i-- > 0;) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        from += step[axis];
        if (++at[i] < array.shape[axes[i]]) break;
        from -= at[i] * step[axis];
        at[i] = 0;
      }
    }
  };
}

Fill last_first(const Array& array, std::vector<int> mirrored) {
  std::vector<int> axes = {array.shape.rank() - 1};
  for (int k = 0; k + 1 < array.shape.rank(); ++k) axes.push_back(k);
  return permuted(array, std::move(axes), std::move(mirrored));
}

Fill all_of(float value) {
  return [value](std::span<float> to) { std::ranges::fill(to, value); };
}

}  // namespace dl::convert::keras
