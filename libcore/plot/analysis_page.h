// The page about a table: what dl-preprocess analyze -o FILE.html writes.

#ifndef DL_LIBCORE_PLOT_ANALYSIS_PAGE_H_
#define DL_LIBCORE_PLOT_ANALYSIS_PAGE_H_

#include <string>

#include "libcore/base/json.h"

namespace dl::plot {

// analysis: as dl-preprocess analyze --json prints it.  recipe: as people read
// it.  Of 1,000 columns it has less than 2 MB.
std::string analysis_page(const Json& analysis, const std::string& recipe,
                          const std::string& title);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_ANALYSIS_PAGE_H_
