// The options of dl-infer.

#ifndef DL_TOOLS_DL_INFER_OPTIONS_H_
#define DL_TOOLS_DL_INFER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "tools/predictor-options.h"

struct Args {
  std::string model, format = "jsonl", output = "-", score, state;
  std::vector<std::string> nodes;
  double threshold = 0.5;
  std::int64_t top = 1, sample = 0, samples = 1, seed = 0;
  bool keep_features = false, no_provenance = false;
  dl::nn::PredictorOptions predictor;
  std::vector<std::string> operands, command_line;
  const dl::cli::Options* options = nullptr;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.add("model,m", &a.model, "FILE", "the model");
  opt.add("output,o", &a.output, "FILE", "where the predictions go");
  opt.add("format", &a.format, "FORMAT",
          "jsonl, or dls: DataSets with predictions as labels, or nodes as "
          "features");
  opt.add("output-of", &a.nodes, "NODE",
          "values of this node instead; may be repeated");
  opt.add("top", &a.top, "N", "jsonl: list the N likeliest classes");
  opt.add(
      "threshold", &a.threshold, "P",
      "jsonl: least value of a sigmoid, or of the second of two classes, that "
      "means yes");
  opt.add("sample", &a.sample, "N",
          "no input: what N codes of an autoencoder stand for");
  opt.add("score", &a.score, "KIND",
          "reconstruction: how likely an autoencoder takes each example for");
  opt.add("samples", &a.samples, "N", "codes drawn of each that is scored");
  opt.add("seed", &a.seed, "N", "where codes that are drawn start from");
  opt.add("keep-state", &a.state, "FILE",
          "go on with sequences from the state that the last call left");
  opt.flag("keep-features", &a.keep_features, "dls: copy the features too");
  opt.flag("no-provenance", &a.no_provenance,
           "dls: do not record how the stream was made");
  dl::declare_predictor(opt, a.predictor);
  opt.rest(&a.operands);
}

#endif  // DL_TOOLS_DL_INFER_OPTIONS_H_
