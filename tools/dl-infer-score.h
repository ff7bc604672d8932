// dl-infer --score: how likely examples are, and which are anomalies.

#ifndef DL_TOOLS_DL_INFER_SCORE_H_
#define DL_TOOLS_DL_INFER_SCORE_H_

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/io/sink.h"
#include "libcore/nn/predict/latent.h"
#include "libcore/nn/predict/score.h"
#include "tools/dl-infer-options.h"

// Lines of scores, or their quantile.
class ScoreWriter {
 public:
  explicit ScoreWriter(const Args& a)
      : quantile_(a.options->given("quantile") ? std::optional(a.quantile)
                                               : std::nullopt),
        threshold_(a.options->given("threshold") ? std::optional(a.threshold)
                                                 : std::nullopt),
        sink_(a.output == "-" ? nullptr : dl::io::open_sink(a.output)) {}

  void take(const std::vector<dl::nn::ScoredExample>& examples) {
    any_ = any_ || !examples.empty();
    std::string lines;
    for (const dl::nn::ScoredExample& example : examples)
      if (quantile_)
        scores_.push_back(example.score);
      else
        lines += line_of(example, threshold_);
    write(lines);
  }
  void close() {
    if (!any_) dl::bad_data("the inputs have no examples");
    if (quantile_)
      write(dl::dump_json(
                dl::Json(dl::nn::quantile_of(std::move(scores_), *quantile_))) +
            "\n");
    if (sink_) sink_->close();
  }

 private:
  void write(const std::string& text) {
    if (sink_)
      sink_->write(std::as_bytes(std::span(text)));
    else
      std::cout << text << std::flush;
  }

  std::optional<double> quantile_, threshold_;
  std::unique_ptr<dl::io::Sink> sink_;
  std::vector<double> scores_;
  bool any_ = false;
};

// run: the scorer's, of a name or of examples.
template <typename Scorer>
void run_scorer(const Args& a, const dl::nn::Model& model, Scorer& scorer,
                const dl::nn::PredictorOptions& options,
                const std::vector<std::string>& specs) {
  ScoreWriter writer(a);
  const auto take = [&](const std::vector<dl::nn::ScoredExample>& examples) {
    writer.take(examples);
  };
  if (a.raw) {
    dl::vectorize::BadRecords bad(a.max_bad);
    scorer.run(*dl::open_raw(model, specs, options, bad, a.encoding), take);
    dl::report_bad(bad);
  } else {
    for (const std::string& spec : specs)
      dl::read_streams(model, [&] { scorer.run(spec, take); });
  }
  writer.close();
}

inline void write_scores(const Args& a, const std::vector<std::string>& specs) {
  a.options->refuse({"output-of", "format", "top", "keep-state"},
                    "is not for --score");
  const bool is_forecast = a.score == "forecast";
  if (!is_forecast && a.score != "reconstruction")
    dl::bad_usage("want --score reconstruction or forecast");
  if (is_forecast)
    a.options->refuse({"samples", "seed"}, "is for --score reconstruction");
  if (a.samples < 1 || a.samples > 1 << 20)
    dl::bad_usage("--samples: want 1..1048576");
  if (a.options->given("quantile")) {
    a.options->refuse({"threshold"}, "does not go with --quantile");
    if (!(a.quantile >= 0 && a.quantile <= 1))
      dl::bad_usage("--quantile: want 0 to 1");
  }
  const auto model = dl::nn::open_model(a.model, dl::cli::log());
  dl::nn::PredictorOptions options = a.predictor;
  options.log = dl::cli::log();
  if (is_forecast) {
    options.labels = dl::nn::Labels::kNeeded;
    dl::nn::ForecastScorer scorer(model, options);
    return run_scorer(a, model, scorer, options, specs);
  }
  dl::nn::Scorer scorer(
      model, {a.samples, static_cast<std::uint64_t>(a.seed), options});
  run_scorer(a, model, scorer, options, specs);
}

#endif  // DL_TOOLS_DL_INFER_SCORE_H_
