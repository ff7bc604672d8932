// The options of dl-eval.

#ifndef DL_TOOLS_DL_EVAL_OPTIONS_H_
#define DL_TOOLS_DL_EVAL_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "libcore/eval/shown_examples.h"
#include "tools/predictor-options.h"

struct Args {
  std::string model;
  std::vector<std::string> kinds, least, most, operands;
  std::int64_t top = 0, local = 0, examples = 0;
  std::string threshold;
  dl::nn::PredictorOptions predictor;
  bool json = false, merge = false, spread = false, raw = false;
  std::int64_t max_bad = 0;
  std::string labels, label_from, label_pattern, data_list, encoding;
  const dl::cli::Options* options = nullptr;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.add("model,m", &a.model, "FILE",
          "model to evaluate, as dl-master wrote it");
  opt.add("evaluate,e", &a.kinds, "[OUTPUT=]KIND",
          "kind of evaluation: classification, binary, roc, regression, "
          "calibration or forecast; may be repeated");
  opt.add("top", &a.top, "N",
          "for classification: also the share of labels among the N likeliest "
          "classes");
  opt.add("threshold", &a.threshold, "P",
          "an answer is yes if the output, or the probability of the second of "
          "two classes, is at least P");
  opt.add("min", &a.least, "METRIC=VALUE",
          "exit with status 1 if METRIC is below VALUE");
  opt.add("max", &a.most, "METRIC=VALUE",
          "exit with status 1 if METRIC is above VALUE");
  opt.flag("json", &a.json, "write the report as JSON, which --merge can read");
  opt.add("examples", &a.examples, "N",
          "with --json: also the N examples of each output with the largest "
          "losses, with ids, for dl-plot; 0: none");
  opt.flag("merge", &a.merge,
           "combine reports of several hosts, given as operands, into one");
  opt.flag("spread", &a.spread,
           "print mean and deviation of each metric over reports, given as "
           "operands, as those of folds");
  opt.add(
      "local", &a.local, "N",
      "evaluate N input files at once on this host; 0: one after the other");
  dl::declare_raw(opt, a.raw, a.max_bad, a.encoding);
  opt.add("labels", &a.labels, "FILE",
          "with --raw: CSV table of pictures' labels with a header; its first "
          "column is the path");
  opt.add("label-from", &a.label_from, "COLUMN",
          "with --raw: class of a picture: its folder, its file name, its "
          "path, or a column of --labels");
  opt.add("label-pattern", &a.label_pattern, "REGEX",
          "with --raw: class of a picture: the part of its path that matches "
          "the parentheses of REGEX");
  dl::declare_data_list(opt, a.data_list);
  dl::declare_predictor(opt, a.predictor);
  opt.rest(&a.operands);
}

inline void check_examples(const Args& a) {
  constexpr auto kMost = dl::eval::ShownExamples::kMost;
  if (a.examples < 0 || a.examples > kMost)
    dl::bad_usage("--examples: want 0.." + std::to_string(kMost) + ", got " +
                  std::to_string(a.examples));
  if (a.examples > 0 && !a.json) dl::bad_usage("--examples goes with --json");
}

#endif  // DL_TOOLS_DL_EVAL_OPTIONS_H_
