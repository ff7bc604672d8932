// Steps that rows of series have or lack where no step is given.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_HOLES_H_
#define DL_LIBCORE_VECTORIZE_SERIES_HOLES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {

struct Holes {
  std::int64_t pairs = 0;    // of rows that follow one another
  std::int64_t regular = 0;  // a step apart
  std::int64_t missing = 0;  // steps between the others

  bool is_plain() const { return 2 * regular > pairs; }
};

// By table.step.
Holes find_holes(const SeriesTable& table);

// "every 1h", "mostly every 1h", or that there is no one step.
std::string step_words(const SeriesTable& table, bool are_numbers);

// "30 steps of 1h have no row ...", with the remedy; none: the rows have no
// holes, or a step of their own each.
std::optional<std::string> words_of_holes(const SeriesTable& table,
                                          bool are_numbers);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_HOLES_H_
