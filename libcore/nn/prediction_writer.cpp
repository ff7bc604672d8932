#include "libcore/nn/prediction_writer.h"

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

class LineWriter : public PredictionWriter {
 public:
  LineWriter(const Model& model, std::int64_t top,
             std::function<void(std::string_view)> write,
             std::unique_ptr<io::Sink> sink)
      : lines_(model, top), write_(std::move(write)), sink_(std::move(sink)) {}

  void see(const data::Metadata&) override {}

  void take(data::DataSet& set, const tensor::Tensor& outputs) override {
    const std::string text =
        lines_.lines(outputs, examples_, set.find("features_mask"));
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
        output_(layout_of(model.config).layers.back().output),
        keep_features_(keep_features),
        step_(std::move(step)),
        stream_(std::move(sink)) {
    // Names for all outputs or for none.
    if (std::cmp_not_equal(names_.size(), output_.back())) names_.clear();
  }

  void see(const data::Metadata& input) override {
    if (begun_ || input.schema.empty()) return;
    begun_ = true;
    data::Metadata metadata;
    for (const auto& [name, field] : input.schema)
      if (kept(name)) metadata.schema[name] = field;
    metadata.schema["labels"] = {tensor::DType::kF32, output_};
    metadata.targets = names_;
    if (keep_features_) metadata.columns = input.columns;
    if (step_) {
      metadata.provenance = input.provenance;
      metadata.provenance.push_back(*step_);
    }
    stream_.write_metadata(metadata);
  }

  void take(data::DataSet& set, const tensor::Tensor& outputs) override {
    check_finite(outputs, stream_.examples());
    data::DataSet result;
    for (auto& [name, tensor] : set.tensors)
      if (kept(name)) result.tensors[name] = std::move(tensor);
    result.tensors["labels"] = outputs;
    stream_.write(result);
  }

  void close() override { stream_.close(); }

 private:
  bool kept(const std::string& name) const {
    return keep_features_ && (name == "features" || name == "features_mask");
  }

  std::vector<std::string> names_;
  tensor::Shape output_;  // of one example
  bool keep_features_;
  std::optional<data::Provenance> step_;
  data::StreamWriter stream_;
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
