// Correlations of the columns of a table with its label.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_ASSOCIATION_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_ASSOCIATION_H_

#include <map>
#include <string>

#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

struct Association {
  // "pearson": number and number, -1..1.
  // "point_biserial": number and two classes, -1..1; above 0 where the second
  // class, in byte order, has the greater numbers.
  // "correlation_ratio": number and more classes, 0..1; eta, not its square.
  // "cramers_v": classes and classes, 0..1, without its bias (Bergsma 2013, A
  // bias-correction for Cramér's V and Tschuprow's T); a missing value is a
  // class, and so are together those behind the 50 most frequent.
  const char* measure;
  double value;
  // Cramér's V of whether a number is missing with the classes of the label; 0:
  // none is, the label is a number, or this is the value, as all numbers are of
  // one class.
  double of_missing = 0;
};
// "Pearson's r", "Cramér's V", ...
std::string measure_text(const std::string& measure);

// By name of the column, dates as numbers; none for ids, texts and constants,
// nor where the label is such or a date.  source: that the table was profiled
// from, from its start. is_number: the label is a number to predict, not a
// class. Throws Error: what the source throws.
std::map<std::string, Association> associations_with(const ColumnProfile& label,
                                                     bool is_number,
                                                     const TableProfile& table,
                                                     RecordSource& source);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_ASSOCIATION_H_
