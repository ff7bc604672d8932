#include "libcore/nn/predictor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/data/stream.h"
#include "libcore/device/open.h"
#include "libcore/io/source.h"

namespace dl::nn {
namespace {

constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr std::int64_t kMaxThreads = 1024;

const PredictorOptions& checked(const PredictorOptions& options) {
  if (options.batch < 1 || options.batch > kMaxBatch)
    throw Error{Code::kUsage, "--batch: want 1.." + std::to_string(kMaxBatch) +
                                  ", got " + std::to_string(options.batch)};
  if (options.threads < 0 || options.threads > kMaxThreads)
    throw Error{Code::kUsage, "--threads: want 0.." +
                                  std::to_string(kMaxThreads) + ", got " +
                                  std::to_string(options.threads)};
  return options;
}

// Examples that a lane computes at a time: what lies between two layers should
// stay in the cache.
constexpr std::int64_t kAtOnce = 32;

Network compiled(const Model& model, const PredictorOptions& options) {
  const std::int64_t wanted =
      options.threads > 0 ? options.threads : available_cores();
  // No more lanes than a batch has examples.
  auto lanes = device::open_lanes(
      options.device, static_cast<int>(std::min(wanted, options.batch)));
  const bool gpu = lanes[0]->name().starts_with("cuda");
  const auto count = static_cast<std::int64_t>(lanes.size());
  return Network(model.config, model.normalizer,
                 gpu ? options.batch : std::min(options.batch, kAtOnce * count),
                 std::move(lanes), false,
                 model.file ? model.weights() : std::span<const float>());
}

// Calls work(); what it finds wrong with the data is told with the source.
template <typename Work>
void naming(const std::string& source, const Work& work) {
  try {
    work();
  } catch (Error& e) {
    if (e.code() == Code::kData) e.add_context(source);
    throw;
  }
}

}  // namespace

struct Predictor::State {
  State(const Model& model, const PredictorOptions& options)
      : batch(options.batch),
        file(model.file),
        network(compiled(model, options)) {
    put_into(network, model);
  }

  void predict(data::DataSet& set, const Take& take) {
    const std::int64_t n = set.examples();
    if (n <= batch) {
      network.predict(set.get("features"), outputs, set.find("features_mask"));
      take(set, outputs);
      return;
    }
    for (std::int64_t begin = 0; begin < n; begin += batch) {
      data::DataSet part = set.slice(begin, std::min(n, begin + batch));
      network.predict(part.get("features"), outputs,
                      part.find("features_mask"));
      take(part, outputs);
    }
  }

  std::int64_t batch;
  // Where the network's parameters lie.
  std::shared_ptr<const io::Mapping> file;
  Network network;
  tensor::Tensor outputs;
};

Predictor::Predictor(const Model& model, const PredictorOptions& options)
    : state_(std::make_unique<State>(model, checked(options))) {}
Predictor::~Predictor() = default;

std::int64_t Predictor::outputs() const { return state_->network.outputs(); }

void Predictor::run(const std::string& spec, const See& see, const Take& take) {
  data::StreamReader reader(io::open_source(spec));
  const auto look = [&] {
    state_->network.check_data(reader.metadata());
    see(reader.metadata());
  };
  naming(reader.name(), look);
  data::DataSet set;
  while (reader.read(set))
    naming(reader.name(), [&] { state_->predict(set, take); });
  naming(reader.name(), look);
  reader.close();
}

void for_each_input(
    const Model& model, const PredictorOptions& options,
    const std::vector<std::string>& specs, std::int64_t at_once,
    const std::function<void(Predictor&, const std::string& spec)>& work) {
  const auto teams = std::min<std::int64_t>(
      std::min(at_once, kMaxThreads), static_cast<std::int64_t>(specs.size()));
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(specs.size());  // each its own thread
  ThreadTeam(static_cast<int>(std::max<std::int64_t>(teams, 1))).run([&](int) {
    Predictor predictor(model, options);
    for (std::size_t i; (i = next++) < specs.size();) {
      try {
        work(predictor, specs[i]);
      } catch (...) {
        errors[i] = std::current_exception();
        next = specs.size();
      }
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void check_classes(const Model& model, const data::Metadata& data) {
  const std::vector<std::string>& own = model.data.classes;
  if (own.empty()) return;
  for (std::size_t i = 0; i < data.classes.size(); ++i)
    if (i >= own.size() || data.classes[i] != own[i])
      throw Error{Code::kData,
                  "its class " + std::to_string(i) + " is '" + data.classes[i] +
                      "', " +
                      (i < own.size() ? "the model's is '" + own[i] + "'"
                                      : "the model has no such class") +
                      "; preprocess it with --classes"};
}

std::vector<std::string> output_names(const data::Metadata& metadata) {
  return metadata.classes.empty() ? metadata.targets : metadata.classes;
}

}  // namespace dl::nn
