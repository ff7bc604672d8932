// The layer type "stochastic_depth".

#include "libcore/nn/layers/parts/noise.h"

namespace dl::nn::layers {

const LayerType& stochastic_depth() {
  static const LayerType type{
      .name = "stochastic_depth",
      .words =
          "Like *dropout*, for whole examples: all numbers of an example are "
          "dropped or kept\n"
          "together. At the end of a residual branch it skips the branch "
          "(Huang et al. 2016).\n"
          "In a sequence all steps are dropped together, with "
          "*time_distributed* each separately.\n"
          "\n"
          "```\n"
          "{\"name\": \"branch\", \"type\": \"dense\", \"from\": \"x\", "
          "\"units\": 64,\n"
          "  \"activation\": \"relu\"},\n"
          "{\"name\": \"depth\", \"type\": \"stochastic_depth\", \"from\": "
          "\"branch\", \"rate\": 0.2},\n"
          "{\"name\": \"sum\", \"type\": \"add\", \"from\": [\"x\", "
          "\"depth\"]}\n"
          "```\n",
      .other_names = {"droppath", "drop_path"},
      .keys = {rate("The share of examples that is dropped.")},
      .disturbs = true,
      .infer = infer_noise<false>,
      .make = make<SharedDropout<true>>};
  return type;
}

}  // namespace dl::nn::layers
