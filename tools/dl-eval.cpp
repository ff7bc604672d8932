// dl-eval - say how good a model is
// For users: man/dl-eval.1.scd.  The metrics: libcore/eval.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/tool.h"
#include "libcore/data/sharding/set_check.h"
#include "libcore/device/open.h"
#include "libcore/eval/forecast.h"
#include "libcore/eval/model.h"
#include "libcore/eval/report.h"
#include "libcore/io/repeated.h"
#include "libcore/io/source.h"
#include "libcore/nn/predict/predictor.h"
#include "tools/dl-eval-options.h"
#include "tools/dl-eval-reports.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-eval",
    .summary = "Evaluate a model: accuracy, AUC, RMSE and other metrics.",
    .usage =
        "dl-eval --model MODEL [OPTION]... [INPUT]...\n"
        "dl-eval --merge [OPTION]... REPORT...\n"
        "dl-eval --spread [--json] REPORT...",
    .examples =
        "dl-eval --model lenet.safetensors 'test-*.dls'\n"
        "dl-eval --model m.safetensors --evaluate roc --json test.dls >a.json\n"
        "dl-eval --merge --min accuracy=0.99 host*.json\n"
        "dl-eval --spread cross-fold*.json",
};

std::vector<std::string> inputs(const Args& a) {
  return dl::inputs_of(a.operands, a.data_list);
}

std::vector<std::string> kinds(const Args& a, const dl::nn::Model& model,
                               const dl::eval::Subjects& subjects) {
  auto all = dl::eval::choose(
      a.kinds, dl::eval::usual_kinds(model, !a.threshold.empty()), subjects);
  if (a.kinds.empty() && subjects.size() == 1 &&
      dl::eval::is_forecast(model.data)) {
    // Errors of differences are none of the data's.
    if (dl::eval::predicts_differences(model.data)) all.clear();
    all.emplace_back("forecast");
  }
  dl::eval::set_forecast(all, subjects, [&](std::int64_t outputs) {
    return dl::eval::forecast_settings(model.data, outputs);
  });
  dl::eval::set_top(all, a.top, subjects);
  dl::eval::set_threshold(all, a.threshold, subjects);
  return all;
}

// One pass over one input: a spec, or examples.  folders: of files that these
// are named after.
template <typename Input>
void evaluate(const dl::nn::Model& model, Result& result,
              const dl::eval::Subjects& subjects, dl::nn::Predictor& predictor,
              Input& input, const std::string& name,
              const std::vector<std::string>& folders,
              const std::function<void(std::int64_t)>& seen) {
  dl::tensor::Tensor product;
  std::int64_t first = 0;
  predictor.run(
      input,
      [&](const dl::data::Metadata& metadata) {
        dl::eval::see_stream(result.all, metadata);
      },
      [&](const dl::data::DataSet& set,
          const std::vector<dl::nn::Prediction>& outputs) {
        dl::eval::see_history(result.all, subjects, model.data, set);
        dl::nn::Network& network = predictor.network();
        const dl::nn::Batch& batch = network.batch_of(set);
        dl::eval::add(result.all, subjects, network, batch, outputs, product);
        result.examples.add(result.all, subjects, network, set, batch, outputs,
                            name, first, folders);
        first += set.examples();
        seen(set.examples());
      });
}

// All inputs.  The assignment of inputs to networks, and their order, change
// nothing: merging is exact.
Result evaluate_all(const Args& a, const std::vector<dl::eval::Bar>& bars) {
  if (a.model.empty()) throw Error{Code::kUsage, "--model is missing"};
  if (a.raw) a.options->refuse({"local"}, "does not go with --raw");
  if (!a.raw)
    a.options->refuse(
        {"max-bad", "encoding", "labels", "label-from", "label-pattern"},
        "is for --raw");
  check_examples(a);
  if (a.max_bad < 0) dl::bad_usage("--max-bad must not be negative");
  if (a.local < 0 || a.local > 1024)
    throw Error{Code::kUsage,
                "--local: want 0..1024, got " + std::to_string(a.local)};
  const dl::nn::Model model = dl::nn::open_model(a.model, dl::cli::log());
  const auto subjects = dl::eval::subjects_of(model.config, model.data);
  const std::vector<std::string> chosen = kinds(a, model, subjects);
  Result total{dl::eval::make_evaluations(chosen, subjects),
               dl::eval::ShownExamples(a.examples)};
  (void)dl::eval::missed(bars, total.all);  // the metrics must exist
  dl::nn::PredictorOptions options = a.predictor;
  options.labels = dl::nn::Labels::kNeeded;
  options.log = dl::cli::log();
  if (a.local > 0 && options.threads == 0) options.threads = 1;
  std::mutex mutex;  // of total and examples
  std::int64_t examples = 0;
  dl::cli::Progress progress;
  const auto seen = [&](std::int64_t n) {
    const std::lock_guard lock(mutex);
    examples += n;
    progress.update([&] { return std::to_string(examples) + " examples"; });
  };
  const std::vector<std::string> specs = inputs(a);
  if (const std::string again = dl::io::repeated(specs); !again.empty())
    dl::cli::log()(dl::Level::kWarning,
                   "warning: " + again + ", and its examples count twice");
  if (a.raw) {
    dl::vectorize::BadRecords bad(a.max_bad);
    const auto examples_of =
        dl::open_raw(model, specs, options, bad, a.encoding,
                     {a.labels, a.label_from, a.label_pattern});
    dl::nn::Predictor predictor(model, options);
    evaluate(model, total, subjects, predictor, *examples_of,
             specs.size() == 1 ? specs[0] : "", specs, seen);
    dl::report_bad(bad);
    if (examples == 0) dl::bad_data("the inputs have no examples");
    return total;
  }
  dl::suggest_raw(specs);
  dl::data::warn_of_missing(specs, dl::cli::log());
  for_each_input(model, options, specs, std::max<std::int64_t>(a.local, 1),
                 [&](dl::nn::Predictor& predictor, const std::string& spec) {
                   Result part{dl::eval::make_evaluations(chosen, subjects),
                               dl::eval::ShownExamples(a.examples)};
                   dl::read_streams(model, [&] {
                     evaluate(model, part, subjects, predictor, spec, spec,
                              {""}, seen);
                   });
                   const std::lock_guard lock(mutex);
                   dl::eval::merge(total.all, std::move(part.all));
                   total.examples.merge(part.examples);
                 });
  if (examples == 0) dl::bad_data("the inputs have no examples");
  return total;
}

void run(const Args& a) {
  if (a.spread) return print_spread(a);
  const auto bars = dl::eval::parse_bars(a.least, a.most);
  const auto result = a.merge ? merge_all(a) : evaluate_all(a, bars);
  const std::vector<std::string> misses = dl::eval::missed(bars, result.all);
  dl::Json report = dl::eval::report_to_json(result.all);
  if (!result.examples.empty()) report["examples"] = result.examples.to_json();
  if (a.json)
    std::cout << dl::dump_json(report) << '\n';
  else
    dl::eval::print(std::cout, result.all);
  std::string sentence;
  for (const std::string& miss : misses)
    sentence += (sentence.empty() ? "" : "; ") + miss;
  if (!sentence.empty()) throw Error{Code::kNo, sentence};
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); }, dl::device::describe_devices);
}
