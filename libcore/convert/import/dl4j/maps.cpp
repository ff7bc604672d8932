// Orders of DL4J's numbers in ours.

#include "libcore/convert/import/dl4j/maps.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::convert::dl4j {
namespace {

void check_size(std::span<const float> from, std::span<float> to) {
  require(from.size() == to.size(), "parameters of another size");
}

}  // namespace

Map as_is() {
  return [](std::span<const float> from, std::span<float> to) {
    check_size(from, to);
    std::ranges::copy(from, to.begin());
  };
}

Map permuted(std::vector<std::int64_t> extents, std::vector<int> axes) {
  return [extents = std::move(extents), axes = std::move(axes)](
             std::span<const float> from, std::span<float> to) {
    check_size(from, to);
    std::vector<std::int64_t> step(extents.size(), 1), at(extents.size(), 0);
    for (std::size_t k = extents.size() - 1; k-- > 0;)
      step[k] = step[k + 1] * extents[k + 1];
    std::int64_t place = 0;
    for (float& value : to) {
      value = from[static_cast<std::size_t>(place)];
      for (std::size_t i = axes.size(); i-- > 0;) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        place += step[axis];
        if (++at[i] < extents[axis]) break;
        place -= at[i] * step[axis];
        at[i] = 0;
      }
    }
  };
}

Map columns_of(const tensor::Shape& image) {
  return [image](std::span<const float> from, std::span<float> to) {
    check_size(from, to);
    const auto inputs = static_cast<std::size_t>(image.elements());
    const auto channels = static_cast<std::size_t>(image.back());
    const std::size_t places = inputs / channels;
    for (std::size_t unit = 0; unit + inputs <= to.size(); unit += inputs)
      for (std::size_t i = 0; i < inputs; ++i)
        to[unit + i] = from[unit + i % channels * places + i / channels];
  };
}

Map blocks(std::vector<int> order) {
  return [order = std::move(order)](std::span<const float> from,
                                    std::span<float> to) {
    check_size(from, to);
    const std::size_t size = to.size() / order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
      std::ranges::copy(
          from.subspan(static_cast<std::size_t>(order[i]) * size, size),
          to.subspan(i * size, size).begin());
  };
}

Map part(std::size_t begin, std::size_t count, Map map) {
  return [begin, count, map = std::move(map)](std::span<const float> from,
                                              std::span<float> to) {
    map(from.subspan(begin, count), to);
  };
}

}  // namespace dl::convert::dl4j
