// The page of a model file: its network and its weights.

#ifndef DL_LIBCORE_PLOT_MODEL_PAGE_H_
#define DL_LIBCORE_PLOT_MODEL_PAGE_H_

#include <string>

#include "libcore/base/log.h"
#include "libcore/plot/embedding/seen_examples.h"

namespace dl::plot {

// look: examples to show as well, if any; data: is given their places as CSV,
// or null.
// Throws Error: as nn::open_model() and see_examples().
std::string model_page(const std::string& path, const Look& look = {},
                       const Log& log = {}, std::string* data = nullptr);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_MODEL_PAGE_H_
