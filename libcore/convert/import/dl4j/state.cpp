// Conversion of DL4J's updater state.

#include "libcore/convert/import/dl4j/state.h"

#include <algorithm>
#include <string>

#include "libcore/base/error.h"

namespace dl::convert::dl4j {

std::vector<std::vector<float>> unpacked_state(
    const std::vector<Variable>& variables, std::span<const float> state) {
  const std::size_t all =
      variables.empty() ? 0 : variables.back().offset + variables.back().count;
  std::vector<std::vector<float>> components(3, std::vector<float>(all, 0));
  std::vector<Variable> in_place = variables;
  std::ranges::stable_sort(in_place, {}, &Variable::place);
  std::size_t at = 0;
  for (std::size_t i = 0; i < in_place.size();) {
    const Variable& first = in_place[i];
    std::size_t end = i;
    while (end < in_place.size() && in_place[end].updater == first.updater &&
           in_place[end].block == first.block)
      ++end;
    const std::size_t count =
        in_place[end - 1].offset + in_place[end - 1].count - first.offset;
    for (std::size_t c = 0; c < state_of(first.updater).size(); ++c) {
      if (count > state.size() - at)
        throw Error{Code::kData, "its updaterState.bin has " +
                                     std::to_string(state.size()) +
                                     " numbers, fewer than its updaters keep"};
      std::ranges::copy(
          state.subspan(at, count),
          components[c].begin() + static_cast<std::ptrdiff_t>(first.offset));
      at += count;
    }
    i = end;
  }
  if (at != state.size())
    throw Error{Code::kData,
                "its updaterState.bin has " + std::to_string(state.size()) +
                    " numbers, its updaters keep " + std::to_string(at)};
  return components;
}

}  // namespace dl::convert::dl4j
