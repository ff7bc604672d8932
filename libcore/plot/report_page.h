// The page of reports of dl-eval --json.

#ifndef DL_LIBCORE_PLOT_REPORT_PAGE_H_
#define DL_LIBCORE_PLOT_REPORT_PAGE_H_

#include <string>
#include <vector>

namespace dl::plot {

// paths: of reports; several are shown one after the other.
// Throws Error: kData, one is damaged or no report; kNoInput, kIo.
std::string report_page(const std::vector<std::string>& paths);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_REPORT_PAGE_H_
