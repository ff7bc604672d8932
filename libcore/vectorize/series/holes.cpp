#include "libcore/vectorize/series/holes.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/vectorize/series/time_step.h"

namespace dl::vectorize {
namespace {

// Numbers such as 0.1 and 0.2 have distances that are rounded.
bool is_a_step(Time from, Time to, const TimeStep& step) {
  constexpr double kRounding = 1e-6;
  if (steps_between(from, to, step) != 1) return false;
  return step.months > 0 ||
         std::abs(to - from - step.seconds) <= kRounding * step.seconds;
}

}  // namespace

Holes find_holes(const SeriesTable& table) {
  Holes holes;
  for (const SeriesRows& series : table.series)
    for (std::size_t i = 1; i < series.rows(); ++i) {
      const Time from = series.times[i - 1], to = series.times[i];
      ++holes.pairs;
      if (is_a_step(from, to, table.step))
        ++holes.regular;
      else
        holes.missing +=
            std::max<std::int64_t>(steps_between(from, to, table.step) - 1, 0);
    }
  return holes;
}

std::string step_words(const SeriesTable& table, bool are_numbers) {
  const Holes holes = find_holes(table);
  if (holes.pairs > 0 && !holes.is_plain())
    return "in steps of several lengths";
  return (holes.regular == holes.pairs ? "every " : "mostly every ") +
         step_text(table.step, are_numbers);
}

std::optional<std::string> words_of_holes(const SeriesTable& table,
                                          bool are_numbers) {
  const Holes holes = find_holes(table);
  if (!holes.is_plain() || holes.missing == 0) return std::nullopt;
  const std::string step = step_text(table.step, are_numbers);
  return counted(holes.missing, "step") + " of " + step +
         (holes.missing == 1 ? " is" : " are") +
         " missing, and windows run over them: give --every " + step +
         " (\"every\" of a recipe)";
}

}  // namespace dl::vectorize
