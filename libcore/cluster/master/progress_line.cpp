#include "libcore/cluster/master/progress_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

constexpr double kInterval = 1;  // seconds between two measurements
constexpr double kSmoothRate = 0.3;

void smooth(double& value, double sample) {
  value = value > 0 ? value + kSmoothRate * (sample - value) : sample;
}

std::string rate(double value, const char* unit) {
  const char* prefixes[] = {" ", " k", " M", " G"};
  int prefix = 0;
  for (; value >= 10000 && prefix < 3; ++prefix) value /= 1000;
  return format("%.0f", value) + prefixes[prefix] + unit + "/s";
}

std::string clock(double seconds) {
  const auto s = static_cast<long long>(std::ceil(seconds));
  char text[48];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600,
                  s / 60 % 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}

}  // namespace

void ProgressLine::observe(RunContext& context) {
  const double passed = context.now - since_;
  if (since_ >= 0 && passed < kInterval) return;
  const std::int64_t examples = examples_seen(context.state);
  const std::uint64_t bytes =
      context.link.bytes_in() + context.link.bytes_out();
  if (since_ >= 0) {
    smooth(examples_per_second_,
           static_cast<double>(examples - examples_) / passed);
    smooth(bytes_per_second_, static_cast<double>(bytes - bytes_) / passed);
  }
  since_ = context.now;
  examples_ = examples;
  bytes_ = bytes;
}

std::string ProgressLine::line(RunContext& context,
                               const Coordinator& coordinator,
                               const MasterOptions& options) const {
  return options.progress_json
             ? dump_json(json(context, coordinator, options.detail))
             : text(context, coordinator, options.detail);
}

double ProgressLine::seconds_left(const RunContext& context) const {
  const double left =
      static_cast<double>(context.training.examples() *
                              (context.settings.epochs - context.state.epoch) -
                          context.state.examples);
  return examples_per_second_ > 0 && left > 0 ? left / examples_per_second_ : 0;
}

Json ProgressLine::json(RunContext& context, const Coordinator& coordinator,
                        bool detail) const {
  const RunState& state = context.state;
  const double loss = state.loss();
  return {{"text", text(context, coordinator, detail)},
          {"epoch", std::min(state.epoch + 1, context.settings.epochs)},
          {"epochs", context.settings.epochs},
          {"evaluating", coordinator.evaluating()},
          {"loss", std::isfinite(loss) ? Json(loss) : Json()},
          {"examples", examples_},
          {"examples_per_second", examples_per_second_},
          {"bytes_per_second", bytes_per_second_},
          {"workers", context.members.workers().size()},
          {"seconds_left", seconds_left(context)}};
}

std::string ProgressLine::text(RunContext& context,
                               const Coordinator& coordinator,
                               bool detail) const {
  const RunState& state = context.state;
  const Settings& settings = context.settings;
  const std::int64_t epoch = std::min(state.epoch + 1, settings.epochs);
  std::string line =
      "epoch " + std::to_string(epoch) + "/" + std::to_string(settings.epochs);
  if (coordinator.evaluating()) line += " (evaluating)";
  if (const double loss = state.loss(); std::isfinite(loss))
    line += format("  loss %.4g", loss);
  if (examples_per_second_ > 0)
    line += "  " + rate(examples_per_second_, "examples") + "  " +
            rate(bytes_per_second_, "B");
  const std::size_t workers = context.members.workers().size();
  line +=
      "  " + std::to_string(workers) + (workers == 1 ? " worker" : " workers");
  if (const double left = seconds_left(context); left > 0)
    line += "  " + clock(left) + " left";
  if (detail && !context.report.exchange.empty())
    line += "  " + context.report.exchange.short_text();
  return line;
}

}  // namespace dl::cluster
