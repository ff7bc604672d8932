// peer-step - our side of the comparisons with other toolkits
//
//   peer-step --net NET.json --data SHARD --write-model MODEL
//       writes the model that training starts from
//   peer-step --model MODEL --data SHARD --batch N --threads N [--predict]
//             [--device NAME] [--precision NAME]
//       For each line "STEPS" of standard input does as many steps over the
//       shard's full mini-batches, in their stored order and again from the
//       first after the last, and answers with a line of JSON: the seconds of
//       each step, its loss or with --predict the outputs for the last
//       mini-batch's first example, with --test SHARD its accuracy on that
//       shard's full mini-batches, and the peak of memory so far.  The first
//       line of all says what a step costs in floating-point operations.
//
// A training step is that of dl-worker in --mode averaging.  The data are in
// memory in their stored dtype; what follows from there on is measured.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/data/format/shard.h"
#include "libcore/device/open.h"
#include "libcore/io/source.h"
#include "libcore/nn/data/targets.h"
#include "libcore/nn/model/model.h"

namespace {

using dl::Code;
using dl::Error;
using dl::data::DataSet;

constexpr dl::cli::ToolInfo kTool = {
    .name = "peer-step",
    .summary = "Train or predict step by step, and say how long each took.",
    .usage =
        "peer-step --net NET --data SHARD --write-model MODEL\n"
        "peer-step --model MODEL --data SHARD [OPTION...]",
    .examples = "echo 50 | peer-step --model m.safetensors --data a.dls",
};

struct Args {
  std::string net, model, data, write_model, test, device = "cpu",
                                                   precision = "float32";
  std::int64_t batch = 64, threads = 1;
  bool predict = false;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("net", &a.net, "FILE", "the network to start from");
  opt.add("write-model", &a.write_model, "FILE", "where its model goes");
  opt.add("model", &a.model, "FILE", "the model to start from");
  opt.add("data", &a.data, "SHARD", "the examples");
  opt.add("batch", &a.batch, "N", "examples of a mini-batch");
  opt.add("threads", &a.threads, "N", "threads of the network");
  opt.add("device", &a.device, "NAME", "what it computes on, as dl-worker's");
  opt.add("precision", &a.precision, "NAME", "of products, as dl-worker's");
  opt.add("test", &a.test, "SHARD", "the examples to tell the accuracy on");
  opt.flag("predict", &a.predict, "predict instead of training");
}

void write_model(const Args& a) {
  const auto source = dl::io::open_source(a.net);
  dl::nn::Model model;
  model.config = dl::nn::parse_network(
      dl::io::read_all(*source, std::size_t{16} << 20), source->name());
  const dl::data::Shard shard(a.data);
  model.normalizers.inputs =
      dl::nn::fit_inputs("auto", model.config, shard.metadata());
  model.data = shard.metadata();
  dl::nn::Network network(model.config, model.normalizers, 1,
                          dl::device::open_lanes("cpu", 1), true);
  network.check_data(shard.metadata());
  network.initialise();
  dl::nn::take_from(network, model);
  model.updater_state.clear();
  dl::nn::save_model(model, a.write_model);
}

// The full mini-batches of a shard.
std::vector<DataSet> read_batches(const dl::data::Shard& shard,
                                  std::int64_t batch) {
  std::vector<DataSet> batches;
  DataSet current;
  std::int64_t filled = batch;
  for (std::size_t r = 0; r < shard.records().size(); ++r) {
    const DataSet record = shard.read(r);
    for (std::int64_t i = 0; i < record.examples(); ++i) {
      if (filled == batch) {
        current = dl::data::make_like(record, batch);
        filled = 0;
      }
      dl::data::copy_example(current, filled++, record, i);
      if (filled == batch) batches.push_back(std::move(current));
    }
  }
  if (batches.empty())
    throw Error{Code::kData, "'" + shard.path() + "' has " +
                                 std::to_string(shard.examples()) +
                                 " examples, less than a mini-batch"};
  return batches;
}

// Not getrusage(): its peak is that of the parent where that was larger.
std::int64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t peak = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> peak;
  return peak;
}

// Forward; in training also the gradients of weights and, above the first
// layer that has some, of inputs.  A recurrent layer has two: the first one's
// state is given a gradient, too.
double flops_of_step(const dl::nn::Network& network, std::int64_t batch,
                     bool predict) {
  const dl::nn::NetworkConfig& config = network.config();
  double sum = 0, spared = 0;
  std::size_t i = 0;
  for (const dl::nn::LayerSummary& layer : network.summary()) {
    const dl::nn::LayerSettings& settings = config.layers[i++].settings;
    const double units = settings.has("units") ? settings.number("units") : 0,
                 inputs = static_cast<double>(config.inputs[0].shape.back());
    const bool recurrent = layer.type == "lstm" || layer.type == "gru" ||
                           layer.type == "simple_rnn";
    if (spared == 0 && layer.parameters > 0)
      spared = layer.flops * (recurrent ? inputs / (inputs + units) : 1);
    sum += layer.flops;
  }
  return static_cast<double>(batch) * (predict ? sum : 3 * sum - spared);
}

// Answers the lines of standard input with step(), which returns the loss, and
// what tell() adds.
void serve(const std::function<double()>& step,
           const std::function<void(dl::Json&)>& tell) {
  using Clock = std::chrono::steady_clock;
  std::int64_t steps = 0;
  while (std::cin >> steps) {
    dl::Json answer{{"seconds", dl::Json::array()},
                    {"losses", dl::Json::array()}};
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto begin = Clock::now();
      const double loss = step();
      const std::chrono::duration<double> taken = Clock::now() - begin;
      answer["seconds"].push_back(taken.count());
      answer["losses"].push_back(loss);
    }
    answer["peak_kib"] = peak_kib();
    tell(answer);
    std::cout << dl::dump_json(answer) << std::endl;
  }
}

void say_ready(const dl::nn::Network& network, const Args& a) {
  std::cout << dl::dump_json(
                   {{"flops", flops_of_step(network, a.batch, a.predict)}})
            << std::endl;
}

void predict(const Args& a, const dl::nn::Model& model,
             const std::vector<DataSet>& batches) {
  dl::nn::Network network(
      model.config, model.normalizers, a.batch,
      dl::device::open_lanes(a.device, static_cast<int>(a.threads),
                             dl::device::precision_of(a.precision),
                             dl::device::Use::kPrediction),
      false);
  dl::nn::put_into(network, model);
  say_ready(network, a);
  dl::tensor::Tensor outputs;
  std::size_t at = 0;
  serve(
      [&] {
        network.predict(batches[at].get("features"), outputs);
        at = (at + 1) % batches.size();
        return 0.0;
      },
      [&](dl::Json& answer) {
        const auto first = outputs.as<float>().first(
            static_cast<std::size_t>(network.output().elements()));
        answer["outputs"] = std::vector<float>(first.begin(), first.end());
      });
}

// Accuracy on classes.
double accuracy(dl::nn::Network& network, const std::vector<DataSet>& batches) {
  dl::tensor::Tensor outputs;
  std::size_t right = 0, all = 0;
  for (const DataSet& batch : batches) {
    network.predict(batch.get("features"), outputs);
    const auto scores = outputs.as<float>();
    const auto classes = batch.get("labels").as<std::uint8_t>();
    const std::size_t width = scores.size() / classes.size();
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const auto row = scores.subspan(i * width, width);
      right += std::ranges::max_element(row) - row.begin() == classes[i];
    }
    all += classes.size();
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

void train(const Args& a, const dl::nn::Model& model,
           const std::vector<DataSet>& batches) {
  dl::cluster::Replica replica(model.config, model.normalizers, a.batch,
                               a.device, static_cast<int>(a.threads),
                               dl::nn::Start::kDrawn,
                               dl::device::precision_of(a.precision));
  dl::nn::put_into(replica.network(), model);
  say_ready(replica.network(), a);
  dl::nn::Position position;
  std::size_t at = 0;
  dl::nn::Network& network = replica.network();
  const auto step = [&] {
    const std::size_t next = (at + 1) % batches.size();
    network.expect(network.batch_of(batches[next], next + 1));
    const auto result =
        replica.train(network.batch_of(batches[at], at + 1), position);
    if (!result.fault.empty()) throw Error{Code::kData, result.fault};
    at = next;
    ++position.iteration;
    ++position.batch;
    position.epoch += at == 0;
    return result.loss;
  };
  std::vector<DataSet> tests;
  if (!a.test.empty()) tests = read_batches(dl::data::Shard(a.test), a.batch);
  serve(step, [&](dl::Json& answer) {
    if (!tests.empty()) answer["accuracy"] = accuracy(replica.network(), tests);
  });
}

void run(const Args& a) {
  if (!a.write_model.empty()) return write_model(a);
  if (a.batch < 1 || a.threads < 1 || a.threads > 1024)
    throw Error{Code::kUsage, "--batch and --threads: want 1 or more"};
  const dl::nn::Model model = dl::nn::load_model(a.model);
  const std::vector<DataSet> batches =
      read_batches(dl::data::Shard(a.data), a.batch);
  (a.predict ? predict : train)(a, model, batches);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); });
}
