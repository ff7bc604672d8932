// Batch-wise application of a model to streams.

#include "libcore/nn/predict/predictor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/data/format/shard.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/read_ahead.h"
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

std::string chosen_device(const PredictorOptions& options) {
  if (options.device != "auto") return options.device;
  const device::Choice choice = device::choose_device();
  if (options.log && !choice.why.empty())
    options.log(choice.broken || options.precision != "float32"
                    ? Level::kWarning
                    : Level::kDetail,
                "--device auto: the cpu, as " + choice.why);
  return choice.name;
}

Network compiled(const Model& model, const PredictorOptions& options) {
  const std::int64_t wanted =
      options.threads > 0 ? options.threads : available_cores();
  const device::Precision precision = device::precision_of(options.precision);
  auto lanes =
      device::open_lanes(chosen_device(options), static_cast<int>(wanted),
                         precision, device::Use::kPrediction);
  if (options.log)
    options.log(Level::kDetail,
                "computes on " + lanes[0]->name() + " in " +
                    std::string(device::name_of(precision, *lanes[0])));
  const bool gpu = lanes[0]->name().starts_with("cuda");
  const auto count = static_cast<std::int64_t>(lanes.size());
  return Network(model.config, model.normalizers,
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
  State(const Model& model, const PredictorOptions& chosen)
      : options(chosen),
        check(model),
        file(model.file),
        network(compiled(model, options)) {
    put_into(network, model);
    if (options.state != nullptr) own = model;
  }

  void predict(data::DataSet& set, const Take& take) {
    const std::int64_t n = set.examples(), batch = options.batch;
    if (n <= batch) {
      predict_at_once(set, take);
      return;
    }
    for (std::int64_t begin = 0; begin < n; begin += batch) {
      data::DataSet part = set.slice(begin, std::min(n, begin + batch));
      predict_at_once(part, take);
    }
  }

  void predict_at_once(data::DataSet& set, const Take& take) {
    CarriedState* carried = options.state;
    network.predict(
        network.batch_of(set).inputs, outputs,
        carried ? carried->next(set.examples()) : std::span<tensor::Tensor>());
    if (carried) carried->keep();
    take(set, outputs);
  }

  data::Metadata first_look(const std::string& spec,
                            const data::Metadata& read) const;

  PredictorOptions options;
  std::optional<Model> own;  // to be compiled for other steps
  DataCheck check;
  // Where the network's parameters lie.
  std::shared_ptr<const io::Mapping> file;
  Network network;
  std::vector<Prediction> outputs;
};

Predictor::Predictor(const Model& model, const PredictorOptions& options)
    : state_(std::make_unique<State>(model, checked(options))) {}
Predictor::~Predictor() = default;

Network& Predictor::network() { return state_->network; }

// Class names, and the largest token, may come after the data; a file tells
// them now.
data::Metadata Predictor::State::first_look(const std::string& spec,
                                            const data::Metadata& read) const {
  const bool names = options.labels != Labels::kIgnored && read.classes.empty();
  const bool tokens =
      !read.statistics &&
      std::ranges::any_of(network.config().layers, [](const LayerConfig& l) {
        return l.type->tokens != nullptr;
      });
  if ((!names && !tokens) || !std::filesystem::is_regular_file(spec))
    return read;
  return data::Shard(spec).metadata();
}

// Parts of sequences have other steps than the model was made for.
void Predictor::fit(const data::Metadata& metadata) {
  if (!state_->own) return;
  Model model = *state_->own;
  model.config = with_steps_of(std::move(model.config), metadata);
  if (std::ranges::equal(model.config.inputs, state_->own->config.inputs, {},
                         &InputConfig::shape, &InputConfig::shape))
    return;
  const PredictorOptions options = state_->options;
  state_ = std::make_unique<State>(model, options);
}

void Predictor::run(const std::string& spec, const See& see, const Take& take) {
  data::StreamReader reader(io::open_source(spec));
  run(reader, state_->first_look(spec, reader.metadata()), see, take);
}

void Predictor::run(data::Examples& examples, const See& see,
                    const Take& take) {
  run(examples, examples.metadata(), see, take);
}

void Predictor::run(data::Examples& reader, const data::Metadata& first,
                    const See& see, const Take& take) {
  data::Alignment alignment;
  const auto look = [&](const data::Metadata& metadata) {
    alignment = state_->check.examine(metadata, state_->options.labels);
    see(state_->check.aligned(alignment, metadata));
  };
  naming(reader.name(), [&] {
    fit(first);
    look(first);
  });
  const data::Alignment before = alignment;
  const auto tell = [&] {
    if (!alignment.note.empty() && state_->options.log)
      state_->options.log(Level::kWarning,
                          reader.name() + ": " + alignment.note);
  };
  tell();
  data::ReadAhead records(reader, [&](data::DataSet& set) {
    naming(reader.name(), [&] { before.apply(set); });
  });
  data::DataSet set;
  while (records.read(set))
    naming(reader.name(), [&] { state_->predict(set, take); });
  naming(reader.name(), [&] {
    look(reader.metadata());
    if (!alignment.orders_labels_as(before))
      throw Error{Code::kData,
                  "its class names come at its end, and are in another order "
                  "than the model's; give it as a file, pass it through "
                  "dl-shard first, or preprocess it with --classes in the "
                  "model's order"};
  });
  if (alignment.note != before.note) tell();
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

}  // namespace dl::nn
