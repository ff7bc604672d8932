// The page of reports of dl-eval --json.

#ifndef DL_LIBCORE_PLOT_REPORT_PAGE_H_
#define DL_LIBCORE_PLOT_REPORT_PAGE_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::plot {

// A report of dl-eval --json, through the evaluations themselves, which check
// it and have what an older version did not write.
// Throws Error: as report_page().
Json read_report(const std::string& path);

// paths: of reports; several are shown one after the other.
// Throws Error: kData, one is damaged or no report; kNoInput, kIo.
std::string report_page(const std::vector<std::string>& paths);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_REPORT_PAGE_H_
