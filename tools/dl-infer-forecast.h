// dl-infer --forecast: rows of series beyond their end.

#ifndef DL_TOOLS_DL_INFER_FORECAST_H_
#define DL_TOOLS_DL_INFER_FORECAST_H_

#include <charconv>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/data/examples.h"
#include "libcore/io/sink.h"
#include "libcore/nn/predict/predictor.h"
#include "libcore/vectorize/series/forecast.h"
#include "tools/dl-infer-options.h"

// The windows of one pass.
class ForecastWindows : public dl::data::Examples {
 public:
  ForecastWindows(dl::data::DataSet windows, const dl::data::Metadata& metadata)
      : windows_(std::move(windows)), metadata_(metadata) {}
  const std::string& name() const override { return name_; }
  const dl::data::Metadata& metadata() const override { return metadata_; }
  bool read(dl::data::DataSet& set) override {
    set = std::exchange(windows_, {});
    return set.examples() > 0;
  }

 private:
  std::string name_ = "the series";
  dl::data::DataSet windows_;
  const dl::data::Metadata& metadata_;
};

// The shortest number that reads back as the same float.
inline std::string shortest_float(float value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end.ptr};
}

inline std::string line_of(const dl::vectorize::ForecastRow& row,
                           const std::vector<std::string>& targets) {
  std::string line = "{";
  if (!row.key.empty()) line += "\"key\":" + dl::dump_json(row.key) + ",";
  if (!row.time.empty())
    line += "\"time\":" + (row.is_number ? row.time : dl::dump_json(row.time)) +
            ",";
  line += "\"step\":" + std::to_string(row.step) + ",\"outputs\":{";
  for (std::size_t i = 0; i < targets.size(); ++i)
    line += (i > 0 ? "," : "") + dl::dump_json(targets[i]) + ":" +
            shortest_float(row.values[i]);
  return line + "}}\n";
}

inline void write_forecast(const Args& a,
                           const std::vector<std::string>& specs) {
  a.options->refuse({"output-of", "format", "top", "threshold", "keep-state",
                     "score", "samples", "seed"},
                    "is not for --forecast");
  constexpr std::int64_t kMost = 1'000'000;
  if (a.forecast < 1 || a.forecast > kMost)
    dl::bad_usage("--forecast: want 1.." + std::to_string(kMost) + " rows");
  const auto model = dl::nn::open_model(a.model, dl::cli::log());
  dl::vectorize::BadRecords bad(a.max_bad);
  dl::vectorize::Forecast forecast(model.data,
                                   {.operands = specs,
                                    .log = dl::cli::log(),
                                    .tell_encoding = dl::cli::log(),
                                    .encoding = a.encoding},
                                   a.forecast, bad);
  dl::nn::PredictorOptions options = a.predictor;
  options.log = dl::cli::log();
  dl::nn::Predictor predictor(model, options);
  for (dl::data::DataSet windows; forecast.next(windows);) {
    ForecastWindows pass(std::move(windows), forecast.metadata());
    predictor.run(
        pass, [](const dl::data::Metadata&) {},
        [&](const dl::data::DataSet&,
            const std::vector<dl::nn::Prediction>& outputs) {
          if (outputs.size() != 1)
            dl::bad_usage("--forecast is for a model of one output");
          forecast.take(outputs[0].values);
        });
  }
  dl::report_bad(bad);
  const auto sink = a.output == "-" ? nullptr : dl::io::open_sink(a.output);
  forecast.each([&](const dl::vectorize::ForecastRow& row) {
    const std::string line = line_of(row, forecast.targets());
    if (sink)
      sink->write(std::as_bytes(std::span(line)));
    else
      std::cout << line;
  });
  if (sink) sink->close();
}

#endif  // DL_TOOLS_DL_INFER_FORECAST_H_
