// peer-trace - our side of `scripts/peers parity`
//
//   peer-trace --net NET.json --data TENSORS --batch N --steps N -o TRACE
//              [--pretrain LAYER] [--disturb X]
//
// TENSORS is a safetensors file of the mini-batches one behind the other, with
// the names of dl-dataset(5).  Trains that many steps over them, again from the
// first after the last, and writes a safetensors file of all that another
// program needs to do the same and to compare:
//
//   start/NAME, end/NAME    parameters and statistics, before and after
//   gradient/NAME           of the parameters, for the first mini-batch;
//   without
//                           steps, none, and the data need no labels
//   first/I, last/I         output I of predictions for the first mini-batch,
//   first_mask/I ...        with both; and their masks, where they have one
//
// and in its metadata "network", with every default, "losses" of the steps and
// "scores", what regularization cost before each, as JSON, and "roles" of the
// parameters by name: weight, bias or other.
//
// With --pretrain, of the network in which dl-master --pretrain lets the layer
// learn.
//
// Parameters start at those of the network's seed plus a number in -X..X each,
// 0.3 by default, so that no bias is 0 and no gamma 1.  Predictions are those
// of a network for predicting, as dl-infer has it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/data/format/record.h"
#include "libcore/device/open.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/model/pretrain.h"

namespace {

using dl::Code;
using dl::Error;
using dl::data::DataSet;
using dl::tensor::Tensor;

constexpr dl::cli::ToolInfo kTool = {
    .name = "peer-trace",
    .summary = "Train a few steps and write down what came of them.",
    .usage = "peer-trace --net NET --data TENSORS [OPTION...] -o TRACE",
    .examples = "peer-trace --net n.json --data d.safetensors -o t.safetensors",
};

struct Args {
  std::string net, data, output, pretrain;
  std::int64_t batch = 4, steps = 20, threads = 2;
  double disturb = 0.3;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("net", &a.net, "FILE", "the network");
  opt.add("data", &a.data, "FILE", "the examples");
  opt.add("output,o", &a.output, "FILE", "what came of it");
  opt.add("pretrain", &a.pretrain, "LAYER", "the layer that learns by itself");
  opt.add("batch", &a.batch, "N", "examples of a mini-batch");
  opt.add("steps", &a.steps, "N", "steps");
  opt.add("disturb", &a.disturb, "X", "how far parameters start elsewhere");
  opt.add("threads", &a.threads, "N", "threads of the network");
}

std::vector<DataSet> read_batches(const Args& a) {
  const auto source = dl::io::open_source(a.data);
  const std::string bytes = dl::io::read_all(*source, std::size_t{16} << 20);
  const DataSet all =
      dl::data::decode_record(std::as_bytes(std::span(bytes))).set;
  std::vector<DataSet> batches;
  for (std::int64_t i = 0; i + a.batch <= all.examples(); i += a.batch)
    batches.push_back(all.slice(i, i + a.batch));
  if (batches.empty()) throw Error{Code::kData, "less than a mini-batch"};
  return batches;
}

void disturb(std::vector<float>& parameters, double most) {
  dl::Philox random(7, 0);
  for (float& parameter : parameters)
    parameter += static_cast<float>(most * (2 * random.uniform() - 1));
}

class Trace {
 public:
  void add(const std::string& group,
           const std::vector<dl::nn::Segment>& segments,
           const std::vector<float>& values) {
    for (const dl::nn::Segment& segment : segments) {
      Tensor t(dl::tensor::DType::kF32, segment.shape);
      std::copy_n(values.begin() + segment.offset, segment.elements(),
                  t.as<float>().begin());
      set_.tensors[group + "/" + segment.name] = std::move(t);
    }
  }

  void add(const std::string& group, dl::cluster::Replica& replica) {
    add(group, replica.network().parameter_segments(), replica.parameters());
    add(group, replica.network().statistics_segments(), replica.statistics());
  }

  void predict(const std::string& group, const dl::nn::Model& model,
               const DataSet& batch, int threads) {
    dl::nn::Network network(model.config, model.normalizers, batch.examples(),
                            dl::device::open_lanes("cpu", threads), false);
    dl::nn::put_into(network, model);
    std::vector<dl::nn::Prediction> outputs;
    network.predict(network.batch_of(batch).inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string name = "/" + std::to_string(i);
      set_.tensors[group + name] = outputs[i].values;
      if (outputs[i].masked)
        set_.tensors[group + "_mask" + name] = outputs[i].steps;
    }
  }

  void write(const std::map<std::string, std::string>& metadata,
             const std::string& path) const {
    std::vector<std::byte> blob;
    dl::data::encode_record(metadata, set_, blob);
    const auto sink = dl::io::open_sink(path);
    sink->write(blob);
    sink->close();
  }

 private:
  DataSet set_;
};

const char* name_of(dl::nn::Role role) {
  switch (role) {
    case dl::nn::Role::kWeight:
      return "weight";
    case dl::nn::Role::kBias:
      return "bias";
    case dl::nn::Role::kOther:
    case dl::nn::Role::kStatistic:
      break;
  }
  return "other";
}

dl::Json train(const Args& a, dl::cluster::Replica& replica,
               const std::vector<DataSet>& batches, dl::Json& scores) {
  dl::nn::Network& network = replica.network();
  dl::nn::Position position;
  dl::Json losses = dl::Json::array();
  for (std::int64_t step = 0; step < a.steps; ++step) {
    const auto at = static_cast<std::size_t>(step) % batches.size();
    scores.push_back(network.regularization_score());
    const auto result = replica.train(network.batch_of(batches[at]), position);
    if (!result.fault.empty()) throw Error{Code::kData, result.fault};
    losses.push_back(result.loss);
    ++position.iteration;
    ++position.batch;
    position.epoch += at + 1 == batches.size();
  }
  return losses;
}

void run(const Args& a) {
  const auto source = dl::io::open_source(a.net);
  dl::nn::Model model;
  model.config = dl::nn::parse_network(
      dl::io::read_all(*source, std::size_t{16} << 20), source->name());
  if (!a.pretrain.empty())
    model.config = dl::nn::parse_network(
        dl::nn::pretraining_network(model.config, a.pretrain), a.pretrain);
  const std::vector<DataSet> batches = read_batches(a);
  const auto threads = static_cast<int>(a.threads);
  dl::cluster::Replica replica(model.config, model.normalizers, a.batch, "cpu",
                               threads);
  dl::nn::Network& network = replica.network();
  std::vector<float> parameters = replica.parameters();
  disturb(parameters, a.disturb);
  replica.set_parameters(parameters);
  Trace trace;
  trace.add("start", replica);
  dl::nn::take_from(network, model);
  trace.predict("first", model, batches[0], threads);

  if (a.steps > 0) {
    const std::vector<float> statistics = replica.statistics();
    network.compute_gradient(network.batch_of(batches[0]), {});
    const auto gradient = replica.update();
    trace.add("gradient", network.parameter_segments(),
              {gradient.begin(), gradient.end()});
    replica.set_statistics(statistics);
  }

  dl::Json scores = dl::Json::array(), roles = dl::Json::object();
  const dl::Json losses = train(a, replica, batches, scores);
  trace.add("end", replica);
  dl::nn::take_from(network, model);
  trace.predict("last", model, batches[0], threads);
  for (const dl::nn::Segment& segment : network.parameter_segments())
    roles[segment.name] = name_of(segment.role);
  trace.write({{"network", dl::dump_json(to_json(model.config))},
               {"losses", dl::dump_json(losses)},
               {"scores", dl::dump_json(scores)},
               {"roles", dl::dump_json(roles)}},
              a.output);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); });
}
