// dl-infer - apply a model to a DataSet stream
// For users: man/dl-infer.1.scd.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/tool.h"
#include "libcore/data/sharding/set_check.h"
#include "libcore/device/open.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/predict/latent.h"
#include "libcore/nn/predict/part_of.h"
#include "libcore/nn/predict/prediction_writer.h"
#include "libcore/nn/predict/predictor.h"
#include "libcore/vectorize/source/record_source.h"
#include "tools/dl-infer-forecast.h"
#include "tools/dl-infer-options.h"
#include "tools/dl-infer-score.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-infer",
    .summary = "Predict: apply a model to a DataSet stream.",
    .usage = "dl-infer --model MODEL [OPTION]... [INPUT]...",
    .examples =
        "dl-infer --model lenet.safetensors new.dls >predictions.jsonl\n"
        "dl-infer --model m.safetensors --raw photos/*.jpg\n"
        "dl-infer --model m.safetensors --top 3 'new-*.dls' | head\n"
        "dl-infer --model m.safetensors --format dls -o scores.dls new.dls",
    .on_kill = dl::io::remove_unfinished,
};

void print(std::string_view text) { std::cout << text << std::flush; }

std::unique_ptr<dl::nn::PredictionWriter> open_writer(
    const Args& a, const dl::nn::Model& model) {
  const bool lines = a.format == "jsonl";
  const auto threshold =
      a.options->given("threshold") ? std::optional(a.threshold) : std::nullopt;
  if (lines && a.output == "-")
    return dl::nn::write_lines(model, a.top, print, threshold);
  if (lines)
    return dl::nn::write_lines(model, a.top, dl::io::open_sink(a.output),
                               threshold);
  dl::nn::StreamOptions options;
  if (!a.nodes.empty()) options.kind = dl::nn::StreamKind::kFeatures;
  options.keep_features = a.keep_features;
  if (!a.no_provenance)
    options.step = {kTool.name, DL_VERSION, a.command_line, std::nullopt};
  return dl::nn::write_stream(model, dl::io::open_sink(a.output), options);
}

// The part of the model that is computed.
dl::nn::Model wanted_of(const Args& a, const dl::nn::Model& model) try {
  return a.nodes.empty() ? model : dl::nn::part_of(model, {}, a.nodes);
} catch (Error& e) {
  e.add_context("--output-of");
  throw;
}

void write_samples(const Args& a) {
  a.options->refuse({"output-of", "keep-features", "keep-state", "score",
                     "samples", "raw", "forecast"},
                    "is not for --sample");
  if (a.sample < 1 || !a.operands.empty() || !a.data_list.empty())
    throw Error{Code::kUsage, "--sample: want 1 or more, and no inputs"};
  const auto decoder =
      dl::nn::decoder_of(dl::nn::open_model(a.model, dl::cli::log()));
  const auto out = open_writer(a, decoder);
  dl::nn::sample(decoder, a.sample, static_cast<std::uint64_t>(a.seed),
                 a.predictor, *out);
  out->close();
}

void run(const Args& a) {
  if (a.model.empty()) throw Error{Code::kUsage, "--model is missing"};
  const bool lines = a.format == "jsonl";
  if (!lines && a.format != "dls")
    throw Error{Code::kUsage,
                "--format: want jsonl or dls, got '" + a.format + "'"};
  if (lines)
    a.options->refuse({"keep-features", "no-provenance"},
                      "is for --format dls");
  else
    a.options->refuse({"top", "threshold"}, "is for --format jsonl");
  if (a.score.empty()) a.options->refuse({"quantile"}, "is for --score");
  if (!a.nodes.empty())
    a.options->refuse({"keep-features"}, "is not for --output-of");
  const bool forecasts = a.options->given("forecast");
  if (!a.raw && !forecasts)
    a.options->refuse({"max-bad", "encoding"}, "is for --raw");
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  if (a.options->given("sample")) return write_samples(a);
  const std::vector<std::string> specs = dl::inputs_of(a.operands, a.data_list);
  dl::io::refuse_overwriting(a.output, specs);
  dl::io::refuse_overwriting(a.output, {a.model, a.data_list});
  if (a.raw) dl::vectorize::refuse_picture_of(a.output, specs);
  if (forecasts) return write_forecast(a, specs);
  if (!a.score.empty()) return write_scores(a, specs);
  a.options->refuse({"samples", "seed"}, "is for --score and --sample");
  if (a.options->given("keep-state"))
    dl::nn::check_state_path(a.state, a.model, a.output, specs);
  const dl::nn::Model whole = dl::nn::open_model(a.model, dl::cli::log());
  const dl::nn::Model model = wanted_of(a, whole);
  std::optional<dl::nn::CarriedState> state;
  if (!a.state.empty()) state.emplace(whole, model.config, a.state);
  dl::nn::PredictorOptions options = a.predictor;
  options.state = state ? &*state : nullptr;
  options.log = dl::cli::log();
  dl::nn::Predictor predictor(model, options);
  const auto out = open_writer(a, model);
  // Predictions on the terminal are progress enough.
  const bool show = a.output != "-" || ::isatty(STDOUT_FILENO) == 0;
  dl::cli::Progress progress;
  std::int64_t examples = 0;
  const auto see = [&](const dl::data::Metadata& metadata) {
    out->see(metadata);
  };
  const auto take = [&](dl::data::DataSet& set,
                        const std::vector<dl::nn::Prediction>& outputs) {
    out->take(set, outputs);
    examples += set.examples();
    if (show)
      progress.update([&] { return std::to_string(examples) + " examples"; });
  };
  if (a.raw) {
    dl::vectorize::BadRecords bad(a.max_bad);
    predictor.run(*dl::open_raw(whole, specs, options, bad, a.encoding), see,
                  take);
    dl::report_bad(bad);
  } else {
    dl::suggest_raw(specs);
    dl::data::warn_of_missing(specs, dl::cli::log());
    for (const std::string& spec : specs)
      dl::read_streams(whole, [&] { predictor.run(spec, see, take); });
  }
  if (examples == 0) dl::bad_data("the inputs have no examples");
  if (state) state->check_complete();
  out->close();
  // After it: who runs it again when it failed in between gets the same.
  if (state) state->save();
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  args.command_line.assign(argv + (argc > 0), argv + argc);
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); }, dl::device::describe_devices);
}
