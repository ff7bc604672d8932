// Options of the tools that apply a model.

#ifndef DL_TOOLS_PREDICTOR_OPTIONS_H_
#define DL_TOOLS_PREDICTOR_OPTIONS_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/cli/options.h"
#include "libcore/cli/tool.h"
#include "libcore/io/source.h"
#include "libcore/io/source_list.h"
#include "libcore/nn/predict/predictor.h"
#include "libcore/vectorize/recipe/raw_examples.h"

namespace dl {

inline void declare_predictor(cli::Options& opt, nn::PredictorOptions& p) {
  opt.add("batch", &p.batch, "N", "examples computed at a time");
  opt.add("threads", &p.threads, "N",
          "threads that compute; 0: one for every core");
  opt.add("device", &p.device, "NAME",
          "compute on cpu, cuda, cuda:N, cuda:all, auto (a GPU if there is "
          "one) or reference (slow, for tests)");
  opt.add("precision", &p.precision, "NAME",
          "precision of matrix products: float32, tf32 or bfloat16");
}

// A list of inputs beside the operands.
inline void declare_data_list(cli::Options& opt, std::string& list) {
  opt.add("data-list", &list, "FILE",
          "file that lists more inputs, a file or pattern a line");
}
// All inputs; standard input without any.
inline std::vector<std::string> inputs_of(
    const std::vector<std::string>& operands, const std::string& list) {
  if (operands.empty() && list.empty()) return {"-"};
  std::vector<std::string> all = io::expand_operands(operands);
  if (list.empty()) return all;
  for (std::string& spec : io::read_list(list)) all.push_back(std::move(spec));
  return all;
}

// Raw data in the place of DataSet streams.
inline void declare_raw(cli::Options& opt, bool& raw, std::int64_t& max_bad,
                        std::string& encoding) {
  opt.flag("raw", &raw,
           "inputs are raw data, made examples of by the model's recipe");
  opt.add("max-bad", &max_bad, "N",
          "with --raw: bad records to leave out before failing");
  opt.add("encoding", &encoding, "NAME",
          "with --raw: encoding of tables, such as latin1 (default: that of "
          "the training data, or as a byte order mark says)");
}

inline std::unique_ptr<data::Examples> open_raw(
    const nn::Model& model, const std::vector<std::string>& inputs,
    const nn::PredictorOptions& predictor, vectorize::BadRecords& bad,
    const std::string& encoding, const vectorize::LabelsFrom& from = {}) {
  vectorize::RawExamplesOptions options;
  options.batch = predictor.batch;
  options.threads = predictor.threads;
  options.labels = predictor.labels == nn::Labels::kNeeded;
  options.from = from;
  options.log = cli::log();
  return vectorize::open_raw_examples(
      model.data, {.operands = inputs, .encoding = encoding}, options, bad);
}

// Folders are no DataSet streams.
inline void suggest_raw(const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs)
    if (io::names_file(input) && std::filesystem::is_directory(input, ignored))
      bad_usage(in_quotes(input) +
                " is a folder; the pictures in it are taken with --raw");
}

// Reads inputs by `run`; a model that knows of raw data takes pictures, too.
template <typename Run>
void read_streams(const nn::Model& model, const Run& run) try {
  run();
} catch (const Error& e) {
  const std::string what = e.what();
  if (e.code() != Code::kData || model.data.recipe.is_null() ||
      what.find(" is no DataSet stream") == std::string::npos)
    throw;
  throw Error{Code::kData, what + "; raw data are taken with --raw"};
}

// Says how many were left out, and the first of them.
inline void report_bad(const vectorize::BadRecords& bad) {
  if (bad.examples().empty()) return;
  cli::log()(Level::kWarning,
             counted(bad.count(), "bad record") + " left out:");
  for (const std::string& what : bad.examples())
    cli::log()(Level::kWarning, what);
}

}  // namespace dl

#endif  // DL_TOOLS_PREDICTOR_OPTIONS_H_
