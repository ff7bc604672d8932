// The recipe of windows that a table in the order of time asks for.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_PROPOSE_SERIES_H_
#define DL_LIBCORE_VECTORIZE_SERIES_PROPOSE_SERIES_H_

#include <string>
#include <vector>

#include "libcore/vectorize/analysis/propose.h"

namespace dl::vectorize {

// Choices of the user, as the options of these names have them.
struct SeriesChoices {
  std::string label;     // columns to predict, or none
  std::string drop;      // columns to leave out
  std::string known;     // columns that are known ahead
  std::string fixed;     // --static: columns that a series has one value of
  std::string calendar;  // parts of the date, as "hour,weekday"
  std::string classes;
  Json settings = Json::object();  // of "series", as given
};

// source: the object of the recipe.  Throws Error: kUsage, a column is not
// there, or is none of these; kData.
ProposedRecipe propose_series(const TableProfile& table,
                              const SeriesChoices& choices, const Json& source);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_PROPOSE_SERIES_H_
