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
  double threshold = 0.5, quantile = 0;
  std::int64_t top = 1, sample = 0, samples = 1, seed = 0, forecast = 0;
  bool keep_features = false, no_provenance = false, raw = false;
  std::int64_t max_bad = 0;
  std::string data_list, encoding;
  dl::nn::PredictorOptions predictor;
  std::vector<std::string> operands, command_line;
  const dl::cli::Options* options = nullptr;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.add("model,m", &a.model, "FILE", "model to apply");
  opt.add("output,o", &a.output, "FILE",
          "file for the predictions; - for standard output");
  dl::declare_raw(opt, a.raw, a.max_bad, a.encoding);
  opt.add("format", &a.format, "FORMAT",
          "output format: jsonl, or dls (as dl-preprocess writes, with "
          "predictions as labels)");
  opt.add("output-of", &a.nodes, "NODE",
          "write the values of this layer or node instead of the outputs; may "
          "be repeated");
  opt.add("top", &a.top, "N",
          "with --format jsonl: list the N likeliest classes");
  opt.add("threshold", &a.threshold, "P",
          "with --format jsonl: an answer is yes if the output, or the "
          "probability of the second of two classes, is at least P; with "
          "--score: an example is an anomaly if its score is below P");
  opt.add("sample", &a.sample, "N",
          "generate N examples from random codes of an autoencoder, reading no "
          "input");
  opt.add("forecast", &a.forecast, "N",
          "predict N rows beyond the end of series, whose rows the inputs have "
          "as raw data");
  opt.add("score", &a.score, "KIND",
          "print how likely each example is (low: unusual); KIND is "
          "reconstruction, by an autoencoder, or forecast, by the error of "
          "predicted numbers");
  opt.add("quantile", &a.quantile, "SHARE",
          "with --score: print the score that this share of the examples is "
          "below, for --threshold");
  opt.add(
      "samples", &a.samples, "N",
      "with --score: latent codes drawn and averaged over for each example");
  opt.add("seed", &a.seed, "N",
          "seed of the random codes of --sample and --score");
  opt.add("keep-state", &a.state, "FILE",
          "file that carries the recurrent state from one call to the next");
  opt.flag("keep-features", &a.keep_features,
           "with --format dls: copy the features to the output, too");
  opt.flag("no-provenance", &a.no_provenance,
           "with --format dls: do not record the command line in the output");
  dl::declare_data_list(opt, a.data_list);
  dl::declare_predictor(opt, a.predictor);
  opt.rest(&a.operands);
}

#endif  // DL_TOOLS_DL_INFER_OPTIONS_H_
