// Output of predictions, as JSON Lines or a stream.

#include "libcore/nn/predict/prediction_writer.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/format/stream.h"
#include "libcore/data/statistics/set_statistics.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/predict/prediction_lines.h"

namespace dl::nn {
namespace {

// Inputs that follow one another have to agree on what their columns are, also
// where the model does not know.
class OneOrder {
 public:
  void see(const data::Metadata& input) {
    if (input.columns.empty()) return;
    if (columns_.empty()) columns_ = input.columns;
    if (columns_ != input.columns)
      throw Error{Code::kData,
                  "its columns are not those of the input before it, and the "
                  "model does not name any"};
  }

 private:
  std::vector<std::string> columns_;
};

// The tensors that say which example it is, checked.
const tensor::Tensor* find_named(const data::DataSet& set, const char* name,
                                 tensor::DType dtype, int rank) {
  const tensor::Tensor* found = set.find(name);
  if (found && (found->dtype() != dtype || found->shape().rank() != rank))
    throw Error{Code::kData, std::string("tensor '") + name + "' is " +
                                 std::string(tensor::name_of(found->dtype())) +
                                 " " + found->shape().to_string()};
  return found;
}

const tensor::Tensor* find_id(const data::DataSet& set) {
  return find_named(set, "id", tensor::DType::kU8, 2);
}

// Pads the texts to this width.
void widen(tensor::Tensor& ids, std::int64_t width) {
  const std::int64_t n = ids.shape()[0], own = ids.shape()[1];
  tensor::Tensor wide(tensor::DType::kU8, {n, width});
  for (std::int64_t i = 0; i < n; ++i)
    std::ranges::copy(
        ids.as<std::uint8_t>().subspan(static_cast<std::size_t>(i * own),
                                       static_cast<std::size_t>(own)),
        wide.as<std::uint8_t>().begin() + i * width);
  ids = std::move(wide);
}

// outputs: [n, steps, ...]; mask: [n, steps].
void clear_padding(tensor::Tensor& outputs, const tensor::Tensor& mask) {
  const auto each =
      static_cast<std::size_t>(outputs.elements() / mask.elements());
  const std::span<float> values = outputs.as<float>();
  for (std::int64_t i = 0; i < mask.elements(); ++i)
    if (mask.value(i) == 0)
      std::ranges::fill(
          values.subspan(static_cast<std::size_t>(i) * each, each), 0.0F);
}

// Zeros and ones.
tensor::Tensor bytes_of(const tensor::Tensor& mask) {
  tensor::Tensor bytes(tensor::DType::kU8, mask.shape());
  std::ranges::transform(
      mask.as<float>(), bytes.as<std::uint8_t>().begin(),
      [](float counts) { return static_cast<std::uint8_t>(counts); });
  return bytes;
}

class LineWriter : public PredictionWriter {
 public:
  LineWriter(const Model& model, std::int64_t top,
             std::optional<double> threshold,
             std::function<void(std::string_view)> write,
             std::unique_ptr<io::Sink> sink)
      : lines_(model, top, threshold),
        write_(std::move(write)),
        sink_(std::move(sink)) {}

  void see(const data::Metadata& input) override { order_.see(input); }

  void take(data::DataSet& set,
            const std::vector<Prediction>& outputs) override {
    const std::string text = lines_.lines(
        outputs, examples_,
        {find_id(set), find_named(set, "index", tensor::DType::kI64, 1)});
    if (sink_)
      sink_->write(std::as_bytes(std::span(text)));
    else
      write_(text);
    examples_ += set.examples();
  }

  void close() override {
    if (sink_) sink_->close();
  }

 private:
  OneOrder order_;
  PredictionLines lines_;
  std::function<void(std::string_view)> write_;
  std::unique_ptr<io::Sink> sink_;
  std::int64_t examples_ = 0;
};

class SetWriter : public PredictionWriter {
 public:
  SetWriter(const Model& model, std::unique_ptr<io::Sink> sink,
            const StreamOptions& options);

  void see(const data::Metadata& input) override {
    if (keeps_features()) order_.see(input);
    data::Metadata metadata;
    for (const auto& [name, field] : input.schema)
      if (kept(name)) metadata.schema[name] = field;
    if (begun_) {
      check_like_first(metadata.schema);
      if (!predicts()) pass_on_labels(input);
      return;
    }
    begun_ = true;
    kept_ = metadata.schema;
    if (predicts()) {
      for (const Output& output : outputs_)
        about(metadata, output.part).targets = output.names;
      if (keeps_features()) {
        metadata.columns = input.columns;
        metadata.recipe = input.recipe;
      }
    } else {
      take_over_labels(metadata, input);
    }
    if (options_.step) {
      metadata.provenance = input.provenance;
      metadata.provenance.push_back(*options_.step);
    }
    told_ = std::move(metadata);
  }

  void take(data::DataSet& set,
            const std::vector<Prediction>& values) override {
    tell(values);
    data::DataSet result;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Output& output = outputs_[i];
      check_finite(values[i].values, stream_.examples());
      tensor::Tensor& own = result.tensors[output.tensor] = values[i].values;
      const tensor::Tensor* mask = values[i].mask();
      if (mask == nullptr) continue;
      clear_padding(own, *mask);
      result.tensors[output.mask] = bytes_of(*mask);
    }
    for (auto& [name, tensor] : set.tensors)
      if (kept(name)) result.tensors[name] = std::move(tensor);
    if (find_id(result) && schema_.contains("id") &&
        result.get("id").shape()[1] < schema_["id"].shape[0])
      widen(result.tensors["id"], schema_["id"].shape[0]);
    if (has_features()) statistics_.add(result);
    stream_.write(result);
  }

  // Networks that are trained on features need their statistics.
  void close() override {
    if (begun_) tell({});
    if (has_features() && stream_.examples() > 0) {
      statistics_.put_into(told_);
      stream_.write_metadata(told_);
    }
    stream_.close();
  }

 private:
  // The tensors that an output becomes.
  struct Output {
    std::string part, tensor, mask;
    tensor::Shape shape;             // of one example
    std::vector<std::string> names;  // of labels
  };

  bool predicts() const { return options_.kind == StreamKind::kPredictions; }
  bool has_features() const { return !predicts() || keeps_features(); }
  bool keeps_features() const { return predicts() && options_.keep_features; }

  static data::About& about(data::Metadata& metadata, const std::string& part) {
    return part.empty() ? metadata : metadata.parts[part];
  }

  // Takes over the names of labels.
  static void take_over_labels(data::Metadata& to, const data::Metadata& from) {
    const auto take = [](data::About& own, const data::About& other) {
      own.classes = other.classes;
      own.targets = other.targets;
    };
    take(to, from);
    for (const auto& [name, part] : from.parts)
      if (!part.classes.empty() || !part.targets.empty())
        take(to.parts[name], part);
  }

  // A stream may say it at its end.
  void pass_on_labels(const data::Metadata& input) {
    if (!told_of_outputs_) return take_over_labels(told_, input);
    data::Metadata known;
    take_over_labels(known, input);
    if (known.to_strings() == passed_on_) return;
    passed_on_ = known.to_strings();
    known.schema = schema_;
    stream_.write_metadata(known);
    told_ = std::move(known);
  }

  bool kept(const std::string& name) const {
    if (name == "id" || name == "index") return true;
    return name.starts_with("features") ? keeps_features() : !predicts();
  }

  // The metadata, with the first batch, which shows the masks; without any,
  // when there is none.
  void tell(const std::vector<Prediction>& values) {
    if (told_of_outputs_) return check_masks(values);
    told_of_outputs_ = true;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Output& output = outputs_[i];
      const bool masked = !values.empty() && values[i].masked;
      masked_.push_back(masked);
      const tensor::Shape shape =
          values.empty() ? output.shape
                         : values[i].values.shape().without_first();
      told_.schema[output.tensor] = {tensor::DType::kF32, shape};
      if (masked)
        told_.schema[output.mask] = {tensor::DType::kU8,
                                     tensor::Shape{shape[0]}};
    }
    schema_ = told_.schema;
    stream_.write_metadata(told_);
    told_.provenance.clear();
  }

  void check_masks(const std::vector<Prediction>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].masked != masked_[i]) refuse_other();
  }

  // Each input has the tensors that the first one had.
  void check_like_first(std::map<std::string, data::Field> schema) const {
    const auto id = schema.find("id");
    const auto first = kept_.find("id");
    if (id != schema.end() && first != kept_.end() &&
        id->second.shape.rank() == 1 && first->second.shape.rank() == 1 &&
        id->second.shape[0] < first->second.shape[0])
      id->second = first->second;
    if (schema != kept_) refuse_other();
  }

  [[noreturn]] static void refuse_other() {
    throw Error{Code::kData,
                "it has other tensors, types or shapes than the input before "
                "it, so they do not go into one stream; predict it apart"};
  }

  StreamOptions options_;
  std::vector<Output> outputs_;
  data::StreamWriter stream_;
  OneOrder order_;
  // The tensors that are kept of the first input, once begun_.
  std::map<std::string, data::Field> kept_;
  bool begun_ = false;
  // The schema of the stream, once its metadata are written.
  std::map<std::string, data::Field> schema_;
  std::vector<bool> masked_;  // by output
  bool told_of_outputs_ = false;
  std::map<std::string, std::string> passed_on_;  // of labels, at last
  data::Metadata told_;                           // last
  data::SetStatistics statistics_;
};

SetWriter::SetWriter(const Model& model, std::unique_ptr<io::Sink> sink,
                     const StreamOptions& options)
    : options_(options), stream_(std::move(sink)) {
  const Layout layout = layout_of(model.config);
  const Wanted wanted = wanted_by(model.config, layout);
  for (std::size_t i = 0; i < wanted.outputs.size(); ++i) {
    const WantedOutput& want = wanted.outputs[i];
    const std::size_t layer = model.config.outputs[i];
    Output output;
    output.part = want.part;
    output.tensor = want.tensor;
    output.mask = want.mask;
    output.shape = layout.layers[layer].output.shape;
    if (!predicts()) {
      output.part =
          wanted.outputs.size() > 1 ? model.config.layers[layer].name : "";
      const std::string end = output.part.empty() ? "" : "/" + output.part;
      output.tensor = "features" + end;
      output.mask = "features_mask" + end;
    }
    // Names for all outputs or for none.
    output.names = output_names(model.config, model.data, i);
    if (std::cmp_not_equal(output.names.size(), output.shape.back()))
      output.names.clear();
    outputs_.push_back(std::move(output));
  }
}

}  // namespace

std::unique_ptr<PredictionWriter> write_lines(
    const Model& model, std::int64_t top,
    std::function<void(std::string_view)> write,
    std::optional<double> threshold) {
  return std::make_unique<LineWriter>(model, top, threshold, std::move(write),
                                      nullptr);
}

std::unique_ptr<PredictionWriter> write_lines(const Model& model,
                                              std::int64_t top,
                                              std::unique_ptr<io::Sink> sink,
                                              std::optional<double> threshold) {
  return std::make_unique<LineWriter>(model, top, threshold, nullptr,
                                      std::move(sink));
}

std::unique_ptr<PredictionWriter> write_stream(const Model& model,
                                               std::unique_ptr<io::Sink> sink,
                                               const StreamOptions& options) {
  return std::make_unique<SetWriter>(model, std::move(sink), options);
}

}  // namespace dl::nn
