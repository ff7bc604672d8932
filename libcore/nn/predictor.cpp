#include "libcore/nn/predictor.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/data/stream.h"
#include "libcore/device/open.h"
#include "libcore/io/source.h"

namespace dl::nn {
namespace {

constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr int kMaxThreads = 1024;

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

// No more lanes than a batch has examples.
int lanes(const PredictorOptions& options) {
  const int wanted = options.threads > 0 ? options.threads : available_cores();
  return static_cast<int>(std::min<std::int64_t>(wanted, options.batch));
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
        network(model.config, model.normalizer, options.batch,
                device::open_lanes(options.device, lanes(options)), false) {
    put_into(network, model);
  }

  void predict(data::DataSet& set, const Take& take) {
    const std::int64_t n = set.examples();
    if (n <= batch) {
      network.predict(set.get("features"), outputs);
      take(set, outputs);
      return;
    }
    for (std::int64_t begin = 0; begin < n; begin += batch) {
      data::DataSet part = set.slice(begin, std::min(n, begin + batch));
      network.predict(part.get("features"), outputs);
      take(part, outputs);
    }
  }

  std::int64_t batch;
  Network network;
  tensor::Tensor outputs;
};

Predictor::Predictor(const Model& model, const PredictorOptions& options)
    : state_(std::make_unique<State>(model, checked(options))) {}
Predictor::~Predictor() = default;

std::int64_t Predictor::outputs() const { return state_->network.outputs(); }

void Predictor::run(const std::string& spec, const See& see,
                    const Take& take) {
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

std::vector<std::string> output_names(const data::Metadata& metadata) {
  return metadata.classes.empty() ? metadata.targets : metadata.classes;
}

}  // namespace dl::nn
