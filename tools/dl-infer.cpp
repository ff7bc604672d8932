// dl-infer - apply a model to a DataSet stream
// For users: man/dl-infer.1.scd.

#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/data/stream.h"
#include "libcore/device/open.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/prediction_lines.h"
#include "libcore/nn/predictor.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-infer",
    .summary = "Apply a model to a DataSet stream.",
    .usage = "dl-infer --model MODEL [OPTION]... [INPUT]...",
    .examples =
        "dl-infer --model lenet.safetensors new.dls >predictions.jsonl\n"
        "dl-infer --model m.safetensors --top 3 'new-*.dls' | head\n"
        "dl-infer --model m.safetensors --format dls -o scores.dls new.dls",
    .on_kill = dl::io::remove_unfinished,
};

struct Args {
  std::string model, format = "jsonl", output = "-";
  std::int64_t top = 1;
  bool keep_features = false, no_provenance = false;
  dl::nn::PredictorOptions predictor;
  std::vector<std::string> operands, command_line;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("model,m", &a.model, "FILE", "the model");
  opt.add("output,o", &a.output, "FILE", "where the predictions go");
  opt.add("format", &a.format, "FORMAT",
          "jsonl, or dls for a DataSet stream with predictions as labels");
  opt.add("top", &a.top, "N", "jsonl: list the N likeliest classes");
  opt.flag("keep-features", &a.keep_features, "dls: copy the features too");
  opt.flag("no-provenance", &a.no_provenance,
           "dls: do not record how the stream was made");
  opt.add("batch", &a.predictor.batch, "N", "examples computed at a time");
  opt.add("threads", &a.predictor.threads, "N",
          "threads of the network, 0: every core");
  opt.add("device", &a.predictor.device, "NAME", "cpu, cuda, cuda:N or auto");
  opt.rest(&a.operands);
}

// Where predictions go, in the order of the examples.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void see(const dl::data::Metadata& metadata) = 0;
  virtual void take(dl::data::DataSet& set,
                    const dl::tensor::Tensor& outputs) = 0;
  virtual void close() = 0;
};

// Each batch is written out at once: the reader of a pipe may be waiting.
class LineWriter : public Writer {
 public:
  LineWriter(const Args& a, const dl::nn::Model& model) : lines_(model, a.top) {
    // Text may go to a terminal, unlike other products.
    if (a.output != "-") sink_ = dl::io::open_sink(a.output);
  }

  void see(const dl::data::Metadata&) override {}

  void take(dl::data::DataSet& set,
            const dl::tensor::Tensor& outputs) override {
    const std::string text = lines_.lines(outputs, examples_);
    examples_ += set.examples();
    if (sink_)
      sink_->write(std::as_bytes(std::span(text)));
    else if (!(std::cout << text << std::flush))
      throw Error{Code::kIo, "cannot write standard output"};
  }

  void close() override {
    if (sink_) sink_->close();
  }

 private:
  dl::nn::PredictionLines lines_;
  std::unique_ptr<dl::io::Sink> sink_;
  std::int64_t examples_ = 0;
};

// The outputs become the labels of a new stream.
class StreamWriter : public Writer {
 public:
  StreamWriter(const Args& a, const dl::nn::Model& model, std::int64_t outputs)
      : args_(a),
        targets_(dl::nn::output_names(model.data)),
        outputs_(outputs),
        stream_(dl::io::open_sink(a.output)) {
    // Names for all outputs or for none.
    if (targets_.size() != static_cast<std::size_t>(outputs)) targets_.clear();
  }

  void see(const dl::data::Metadata& input) override {
    if (begun_ || input.schema.empty()) return;
    begun_ = true;
    dl::data::Metadata metadata;
    for (const auto& [name, field] : input.schema)
      if (kept(name)) metadata.schema[name] = field;
    metadata.schema["labels"] = {dl::tensor::DType::kF32, {outputs_}};
    metadata.targets = targets_;
    if (args_.keep_features) metadata.columns = input.columns;
    if (!args_.no_provenance) {
      metadata.provenance = input.provenance;
      metadata.provenance.push_back(
          {kTool.name, DL_VERSION, args_.command_line, std::nullopt});
    }
    stream_.write_metadata(metadata);
  }

  void take(dl::data::DataSet& set,
            const dl::tensor::Tensor& outputs) override {
    dl::nn::check_finite(outputs, stream_.examples());
    dl::data::DataSet result;
    for (auto& [name, tensor] : set.tensors)
      if (kept(name)) result.tensors[name] = std::move(tensor);
    result.tensors["labels"] = outputs;
    stream_.write(result);
  }

  void close() override { stream_.close(); }

 private:
  bool kept(const std::string& name) const {
    return args_.keep_features &&
           (name == "features" || name == "features_mask");
  }

  const Args& args_;
  std::vector<std::string> targets_;
  std::int64_t outputs_;
  dl::data::StreamWriter stream_;
  bool begun_ = false;
};

void run(const Args& a) {
  if (a.model.empty()) throw Error{Code::kUsage, "--model is missing"};
  const bool lines = a.format == "jsonl";
  if (!lines && a.format != "dls")
    throw Error{Code::kUsage,
                "--format: want jsonl or dls, got '" + a.format + "'"};
  const std::vector<std::string> specs = dl::io::expand_operands(
      a.operands.empty() ? std::vector<std::string>{"-"} : a.operands);
  const dl::nn::Model model = dl::nn::load_model(a.model);
  dl::nn::Predictor predictor(model, a.predictor);
  std::unique_ptr<Writer> out;
  if (lines)
    out = std::make_unique<LineWriter>(a, model);
  else
    out = std::make_unique<StreamWriter>(a, model, predictor.outputs());
  for (const std::string& spec : specs)
    predictor.run(
        spec, [&](const dl::data::Metadata& metadata) { out->see(metadata); },
        [&](dl::data::DataSet& set, const dl::tensor::Tensor& outputs) {
          out->take(set, outputs);
        });
  out->close();
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  args.command_line.assign(argv + (argc > 0), argv + argc);
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); }, dl::device::describe_devices);
}
