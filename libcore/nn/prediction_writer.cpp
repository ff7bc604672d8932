#include "libcore/nn/prediction_writer.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/stream.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/prediction_lines.h"
#include "libcore/nn/predictor.h"

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

// outputs: [n, steps, units]; mask: [n, steps].
void clear_padding(tensor::Tensor& outputs, const tensor::Tensor& mask) {
  const auto units = static_cast<std::size_t>(outputs.shape().back());
  const std::span<float> values = outputs.as<float>();
  for (std::int64_t i = 0; i < mask.elements(); ++i)
    if (mask.value(i) == 0)
      std::ranges::fill(
          values.subspan(static_cast<std::size_t>(i) * units, units), 0.0F);
}

class LineWriter : public PredictionWriter {
 public:
  LineWriter(const Model& model, std::int64_t top,
             std::function<void(std::string_view)> write,
             std::unique_ptr<io::Sink> sink)
      : lines_(model, top), write_(std::move(write)), sink_(std::move(sink)) {}

  void see(const data::Metadata& input) override { order_.see(input); }

  void take(data::DataSet& set,
            const std::vector<tensor::Tensor>& outputs) override {
    const std::string text =
        lines_.lines(outputs[0], examples_,
                     {set.find("features_mask"), find_id(set),
                      find_named(set, "index", tensor::DType::kI64, 1)});
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
            bool keep_features, std::optional<data::Provenance> step)
      : names_(output_names(model.data)),
        output_(layout_of(model.config)
                    .layers[model.config.outputs[0]]
                    .output.shape),
        keep_features_(keep_features),
        step_(std::move(step)),
        stream_(std::move(sink)) {
    // Names for all outputs or for none.
    if (std::cmp_not_equal(names_.size(), output_.back())) names_.clear();
  }

  void see(const data::Metadata& input) override {
    if (keep_features_) order_.see(input);
    data::Metadata metadata;
    for (const auto& [name, field] : input.schema)
      if (kept(name)) metadata.schema[name] = field;
    metadata.schema["labels"] = {tensor::DType::kF32, output_};
    const auto mask = input.schema.find("features_mask");
    if (mask != input.schema.end() && of_steps(mask->second.shape))
      metadata.schema["labels_mask"] = mask->second;
    if (begun_) return check_like_first(metadata.schema);
    begun_ = true;
    schema_ = metadata.schema;
    metadata.targets = names_;
    if (keep_features_) metadata.columns = input.columns;
    if (step_) {
      metadata.provenance = input.provenance;
      metadata.provenance.push_back(*step_);
    }
    stream_.write_metadata(metadata);
  }

  void take(data::DataSet& set,
            const std::vector<tensor::Tensor>& outputs) override {
    check_finite(outputs[0], stream_.examples());
    data::DataSet result;
    result.tensors["labels"] = outputs[0];
    const tensor::Tensor* mask = set.find("features_mask");
    if (mask && of_steps(mask->shape().without_first())) {
      result.tensors["labels_mask"] = *mask;
      clear_padding(result.tensors["labels"], *mask);
    }
    for (auto& [name, tensor] : set.tensors)
      if (kept(name)) result.tensors[name] = std::move(tensor);
    if (find_id(result) && schema_.contains("id") &&
        result.get("id").shape()[1] < schema_["id"].shape[0])
      widen(result.tensors["id"], schema_["id"].shape[0]);
    stream_.write(result);
  }

  void close() override { stream_.close(); }

 private:
  // Whether a mask of this shape is of the steps of an output.
  bool of_steps(const tensor::Shape& mask) const {
    return output_.rank() == 2 && mask == tensor::Shape{output_[0]};
  }

  bool kept(const std::string& name) const {
    return name == "id" || name == "index" ||
           (keep_features_ && (name == "features" || name == "features_mask"));
  }

  // What the input before it had, all of it has.
  void check_like_first(std::map<std::string, data::Field> schema) const {
    const auto id = schema.find("id");
    const auto first = schema_.find("id");
    if (id != schema.end() && first != schema_.end() &&
        id->second.shape.rank() == 1 && first->second.shape.rank() == 1 &&
        id->second.shape[0] < first->second.shape[0])
      id->second = first->second;
    if (schema == schema_) return;
    throw Error{Code::kData,
                "it has other tensors, types or shapes than the input before "
                "it, so they do not go into one stream; predict it apart"};
  }

  std::vector<std::string> names_;
  tensor::Shape output_;  // of one example
  bool keep_features_;
  std::optional<data::Provenance> step_;
  data::StreamWriter stream_;
  OneOrder order_;
  std::map<std::string, data::Field> schema_;  // of the stream, once begun_
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<PredictionWriter> write_lines(
    const Model& model, std::int64_t top,
    std::function<void(std::string_view)> write) {
  return std::make_unique<LineWriter>(model, top, std::move(write), nullptr);
}

std::unique_ptr<PredictionWriter> write_lines(const Model& model,
                                              std::int64_t top,
                                              std::unique_ptr<io::Sink> sink) {
  return std::make_unique<LineWriter>(model, top, nullptr, std::move(sink));
}

std::unique_ptr<PredictionWriter> write_stream(
    const Model& model, std::unique_ptr<io::Sink> sink, bool keep_features,
    std::optional<data::Provenance> step) {
  return std::make_unique<SetWriter>(model, std::move(sink), keep_features,
                                     std::move(step));
}

}  // namespace dl::nn
