// The examples that a report shows: dl-eval --examples.

#ifndef DL_LIBCORE_PLOT_EXAMPLE_SECTION_H_
#define DL_LIBCORE_PLOT_EXAMPLE_SECTION_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/plot/chart.h"
#include "libcore/plot/page.h"

namespace dl::plot {

// Predicted against true values, and residuals, of the first columns of a
// regression's sample.  examples: whole and valid, and so is the evaluation.
std::vector<Chart> sample_charts(const Json& examples, const Json& evaluation,
                                 const std::string& prefix);
// The examples with the largest losses: a section with a table, and the
// pictures of those whose files are there.
void add_worst(Page& page, const Json& examples, const std::string& id,
               const std::string& title);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EXAMPLE_SECTION_H_
