// dl-export - take a model to other programs
// For users: man/dl-export.1.scd.  The formats: libcore/convert/export.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/convert/export/diagram.h"
#include "libcore/convert/export/keras/keras.h"
#include "libcore/convert/export/onnx/onnx.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-export",
    .summary = "Export a model to ONNX or Keras, or draw its network.",
    .usage = "dl-export [OPTION]... -o FILE MODEL",
    .examples =
        "dl-export lenet.safetensors -o lenet.onnx\n"
        "dl-export lenet.safetensors -o lenet.svg\n"
        "dl-export --masks always chars.safetensors -o chars.onnx\n"
        "dl-export --format onnx lenet.safetensors -o - | ssh host 'cat "
        ">m.onnx'",
    .on_kill = dl::io::remove_unfinished,
};

struct Args {
  std::string output, format, masks = "auto";
  std::vector<std::string> models;
  const dl::cli::Options* options = nullptr;
};

void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.add("output,o", &a.output, "FILE",
          "file to write; - for standard output");
  opt.add("format", &a.format, "FORMAT",
          "output format: onnx, keras, h5, json, dot or svg; default: by the "
          "extension of FILE");
  opt.add("masks", &a.masks, "WHEN",
          "give sequence inputs a mask: always, never, or auto, as the "
          "training data had");
  opt.rest(&a.models);
}

struct Format {
  std::string_view name;  // as files end
  std::string (*write)(const dl::nn::Model&, const Args&);
  bool has_masks = false;
};

std::optional<bool> masks_of(const Args& a) {
  if (a.masks == "auto") return {};
  if (a.masks != "always" && a.masks != "never")
    throw Error{Code::kUsage,
                "--masks: want auto, always or never, got '" + a.masks + "'"};
  return a.masks == "always";
}

std::optional<bool> masks_for(const dl::nn::Model& model, const Args& a) {
  if (a.masks == "always" &&
      std::ranges::none_of(dl::nn::layout_of(model.config).inputs,
                           &dl::nn::ValueSpec::steps))
    throw Error{Code::kUsage,
                "--masks always: no input of the model is a sequence"};
  return masks_of(a);
}

std::string onnx(const dl::nn::Model& model, const Args& a) {
  return dl::convert::to_onnx(
      model, {.version = DL_VERSION, .masks = masks_for(model, a)});
}

std::string keras(const dl::nn::Model& model, const Args& a) {
  return dl::convert::to_keras(model, dl::convert::KerasFormat::kArchive,
                               masks_for(model, a));
}

std::string h5(const dl::nn::Model& model, const Args& a) {
  return dl::convert::to_keras(model, dl::convert::KerasFormat::kHdf5,
                               masks_for(model, a));
}

std::string json(const dl::nn::Model& model, const Args&) {
  return readable_json(model.config).dump(2) + "\n";
}

std::string dot(const dl::nn::Model& model, const Args&) {
  return dl::convert::to_dot(dl::convert::diagram_of(model.config));
}

std::string svg(const dl::nn::Model& model, const Args&) {
  return dl::convert::to_svg(dl::convert::diagram_of(model.config));
}

constexpr Format kFormats[] = {{"onnx", onnx, true}, {"keras", keras, true},
                               {"h5", h5, true},     {"json", json},
                               {"dot", dot},         {"svg", svg}};

const Format& format_of(const Args& a) {
  std::string name = a.format;
  if (name.empty()) {
    const auto dot = a.output.rfind('.');
    if (dot != std::string::npos) name = a.output.substr(dot + 1);
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const Format& format : kFormats)
    if (format.name == name) return format;
  throw Error{Code::kUsage,
              a.format.empty()
                  ? "'" + a.output +
                        "': want a name that ends in .onnx, .keras, .h5, "
                        ".json, .dot or .svg, or --format"
                  : "--format: want onnx, keras, h5, json, dot or svg, got '" +
                        a.format + "'"};
}

void run(const Args& a) {
  if (a.output.empty()) throw Error{Code::kUsage, "--output is missing"};
  if (a.models.size() != 1) throw Error{Code::kUsage, "want one model"};
  dl::io::refuse_overwriting(a.output, a.models);
  const Format& format = format_of(a);
  masks_of(a);
  if (!format.has_masks)
    a.options->refuse({"masks"}, "is for onnx, keras and h5 alone");
  const dl::nn::Model model = dl::nn::open_model(a.models[0], dl::cli::log());
  if (!model.data.recipe.is_null() &&
      (format.name == "keras" || format.name == "h5"))
    dl::cli::log()(dl::Level::kWarning,
                   "warning: Keras has no place for the recipe by which "
                   "dl-infer --raw reads raw data: keep '" +
                       a.models[0] + "' for it, or export ONNX");
  std::string bytes;
  try {
    bytes = format.write(model, a);
  } catch (Error& e) {
    e.add_context("'" + a.models[0] + "'");
    throw;
  }
  dl::io::write_whole(a.output, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
