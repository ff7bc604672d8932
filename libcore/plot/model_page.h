// The page of a model file: its network and its weights.

#ifndef DL_LIBCORE_PLOT_MODEL_PAGE_H_
#define DL_LIBCORE_PLOT_MODEL_PAGE_H_

#include <string>

#include "libcore/base/log.h"

namespace dl::plot {

// Throws Error: as nn::load_model().
std::string model_page(const std::string& path, const Log& log = {});

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_MODEL_PAGE_H_
