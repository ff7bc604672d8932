// Examples of simulated runs, and evaluation on held-out data.

#include "tests/simulation/examples.h"

#include <limits>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/master/epoch/evaluation_master.h"
#include "libcore/device/open.h"
#include "libcore/eval/model.h"

namespace simulated {

using namespace dl::cluster;

namespace {

constexpr std::int64_t kEvaluated = 250;  // at a time

RecordStore store(const MasterData& data, const RunConfig& plan,
                  const dl::Log& log) {
  const auto fetch = [](std::uint32_t,
                        std::uint32_t) -> std::vector<std::byte> {
    throw dl::Error{dl::Code::kNoInput, "a shard is gone"};
  };
  return RecordStore(
      data.shards(), "/", fetch, std::numeric_limits<std::size_t>::max(), log,
      check_for(plan.model.config, plan.model.normalizers.inputs));
}

}  // namespace

Examples::Examples(const RunConfig& plan, const dl::Log& log)
    : plan_(plan), training_(store(*plan.training, plan, log)) {
  if (!plan.evaluation || plan.settings.evaluations.empty()) return;
  evaluation_.emplace(store(*plan.evaluation, plan, log));
  subjects_ = dl::eval::subjects_of(plan.model.config, plan.model.data);
  network_ = std::make_unique<dl::nn::Network>(
      plan.model.config, plan.model.normalizers, kEvaluated,
      dl::device::open_lanes("cpu", 1), false);
}

const dl::data::DataSet& Examples::read(Reader& reader, std::int64_t epoch,
                                        std::int64_t index,
                                        std::int64_t batch) {
  if (!reader.order || reader.epoch != epoch)
    reader.order.emplace(plan_.training->catalogue(), batch,
                         plan_.settings.seed, static_cast<std::uint64_t>(epoch),
                         true);
  reader.epoch = epoch;
  assemble(*reader.order, index, training_, reader.batch);
  return reader.batch.set;
}

std::map<std::string, double> Examples::evaluate(const RunState& state) {
  if (!network_) return {};
  dl::nn::Model model;
  model.config = plan_.model.config;
  model.normalizers = plan_.model.normalizers;
  model.parameters = state.parameters;
  model.statistics = state.statistics;
  dl::nn::put_into(*network_, model);
  dl::eval::Evaluations all;
  for (const std::string& chosen : plan_.settings.evaluations)
    all.push_back(dl::eval::make_chosen(chosen, subjects_));
  dl::data::Epoch order(plan_.evaluation->catalogue(), kEvaluated, 0, 0, false);
  LoadedBatch batch;
  std::vector<dl::nn::Prediction> outputs;
  dl::tensor::Tensor product;
  for (std::int64_t i = 0; i < order.batches(); ++i) {
    assemble(order, i, *evaluation_, batch);
    const dl::nn::Batch& view = network_->batch_of(batch.set);
    network_->predict(view.inputs, outputs);
    dl::eval::add(all, subjects_, *network_, view, outputs, product);
  }
  std::map<std::string, double> metrics;
  for (const auto& evaluation : all)
    for (const std::string& name : dl::eval::main_metrics(*evaluation))
      metrics[evaluation->called(name)] = evaluation->metric(name);
  return metrics;
}

}  // namespace simulated
