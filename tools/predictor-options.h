// Options of the tools that apply a model.

#ifndef DL_TOOLS_PREDICTOR_OPTIONS_H_
#define DL_TOOLS_PREDICTOR_OPTIONS_H_

#include "libcore/cli/options.h"
#include "libcore/nn/predict/predictor.h"

namespace dl {

inline void declare_predictor(cli::Options& opt, nn::PredictorOptions& p) {
  opt.add("batch", &p.batch, "N", "examples computed at a time");
  opt.add("threads", &p.threads, "N",
          "threads that compute; 0: one for every core");
  opt.add("device", &p.device, "NAME",
          "compute on cpu, cuda, cuda:N, cuda:all, reference or auto");
  opt.add("precision", &p.precision, "NAME",
          "precision of matrix products: float32, tf32 or bfloat16");
}

}  // namespace dl

#endif  // DL_TOOLS_PREDICTOR_OPTIONS_H_
