#include "libcore/cluster/protocol/exchange_stats.h"

#include <algorithm>
#include <utility>

#include "libcore/cluster/settings/settings_fields.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kMost = INT64_MAX;

double per(double sum, std::int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

void ExchangeStats::add(const ExchangeStats& later) {
  batches += later.batches;
  updates += later.updates;
  bytes += later.bytes;
  elements += later.elements;
  quanta += later.quanta;
  threshold += later.threshold;
  compute += later.compute;
  encode += later.encode;
  decode += later.decode;
  wait += later.wait;
  idle += later.idle;
  inbox = std::max(inbox, later.inbox);
  outbox = std::max(outbox, later.outbox);
  cpu += later.cpu;
  measured += later.measured;
  memory = std::max(memory, later.memory);
  if (later.residual.back() > 0) residual = later.residual;
  applied += later.applied;
  staleness += later.staleness;
  staleness_max = std::max(staleness_max, later.staleness_max);
}

Json ExchangeStats::to_json() const {
  return {
      {"batches", batches},   {"updates", updates},  {"bytes", bytes},
      {"elements", elements}, {"quanta", quanta},    {"threshold", threshold},
      {"compute", compute},   {"encode", encode},    {"decode", decode},
      {"wait", wait},         {"idle", idle},        {"inbox", inbox},
      {"outbox", outbox},     {"cpu", cpu},          {"measured", measured},
      {"memory", memory},     {"residual", residual}};
}

ExchangeStats ExchangeStats::from_json(const Json& object) {
  ExchangeStats s;
  const JsonView json(object, Code::kProtocol, "exchange");
  json.only({"batches", "updates", "bytes", "elements", "quanta", "threshold",
             "compute", "encode", "decode", "wait", "idle", "inbox", "outbox",
             "cpu", "measured", "memory", "residual"});
  if (object.empty()) return s;
  s.batches = json.at("batches").integer(0, kMost);
  s.updates = json.at("updates").integer(0, kMost);
  s.bytes = json.at("bytes").integer(0, kMost);
  s.elements = at_least_zero(json.at("elements"));
  s.quanta = at_least_zero(json.at("quanta"));
  s.threshold = at_least_zero(json.at("threshold"));
  s.compute = at_least_zero(json.at("compute"));
  s.encode = at_least_zero(json.at("encode"));
  s.decode = at_least_zero(json.at("decode"));
  s.wait = at_least_zero(json.at("wait"));
  s.idle = at_least_zero(json.at("idle"));
  s.inbox = json.at("inbox").integer(0, kMost);
  s.outbox = json.at("outbox").integer(0, kMost);
  s.cpu = at_least_zero(json.at("cpu"));
  s.measured = at_least_zero(json.at("measured"));
  s.memory = json.at("memory").integer(0, kMost);
  const JsonView quantiles = json.at("residual");
  if (quantiles.size() != s.residual.size())
    quantiles.fail(std::to_string(s.residual.size()) + " numbers");
  for (std::size_t i = 0; i < s.residual.size(); ++i)
    s.residual[i] = quantiles.at(i).number();
  return s;
}

double ExchangeStats::density() const {
  return elements > 0 ? quanta / elements : 0;
}

double ExchangeStats::seconds() const {
  return compute + encode + decode + wait + idle;
}

double ExchangeStats::share(double part) const {
  return seconds() > 0 ? part / seconds() : 0;
}

Json ExchangeStats::summary() const {
  const double ms = 1000;
  Json means = {{"batches", batches},
                {"updates", updates},
                {"bytes", bytes},
                {"threshold", per(threshold, updates)},
                {"density", density()},
                {"residual", residual},
                {"staleness",
                 {{"mean", per(staleness, applied)}, {"max", staleness_max}}},
                {"queues", {{"inbox", inbox}, {"outbox", outbox}}},
                {"compute_ms", per(ms * compute, batches)},
                {"encode_ms", per(ms * encode, batches)},
                {"decode_ms", per(ms * decode, batches)},
                {"wait", share(wait)},
                {"idle", share(idle)}};
  if (measured > 0) means["cores"] = cpu / measured;
  if (memory > 0) means["memory"] = memory;
  return means;
}

void ExchangeMeter::add(const ExchangeStats& stats) {
  const std::lock_guard lock(mutex_);
  stats_.add(stats);
}

ExchangeStats ExchangeMeter::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(stats_, {});
}

}  // namespace dl::cluster
