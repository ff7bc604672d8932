// dl-export - take a model to other programs
// For users: man/dl-export.1.scd.  The formats: libcore/convert/export.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/convert/export/onnx.h"
#include "libcore/io/sink.h"
#include "libcore/nn/model.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-export",
    .summary = "Take a model to other programs: ONNX.",
    .usage = "dl-export [OPTION]... -o FILE MODEL",
    .examples =
        "dl-export lenet.safetensors -o lenet.onnx\n"
        "dl-export --masks always chars.safetensors -o chars.onnx\n"
        "dl-export --format onnx lenet.safetensors -o - | ssh host 'cat "
        ">m.onnx'",
    .on_kill = dl::io::remove_unfinished,
};

struct Args {
  std::string output, format, masks = "auto";
  std::vector<std::string> models;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "FILE", "where it goes");
  opt.add("format", &a.format, "FORMAT", "onnx; else as the name of FILE ends");
  opt.add("masks", &a.masks, "WHEN",
          "sequences have a mask beside them: always, never, or auto, where\n"
          "the training data had one");
  opt.rest(&a.models);
}

std::string format_of(const Args& a) {
  std::string format = a.format;
  if (format.empty()) {
    const auto dot = a.output.rfind('.');
    if (dot != std::string::npos) format = a.output.substr(dot + 1);
  }
  if (format == "onnx") return format;
  throw Error{Code::kUsage,
              a.format.empty() ? "'" + a.output +
                                     "': want a name that ends in .onnx, or "
                                     "--format"
                               : "--format: want onnx, got '" + a.format + "'"};
}

std::optional<bool> masks_of(const Args& a) {
  if (a.masks == "auto") return {};
  if (a.masks != "always" && a.masks != "never")
    throw Error{Code::kUsage,
                "--masks: want auto, always or never, got '" + a.masks + "'"};
  return a.masks == "always";
}

void run(const Args& a) {
  if (a.output.empty()) throw Error{Code::kUsage, "--output is missing"};
  if (a.models.size() != 1) throw Error{Code::kUsage, "want one model"};
  format_of(a);
  const dl::convert::OnnxOptions options{.version = DL_VERSION,
                                         .masks = masks_of(a)};
  const dl::nn::Model model = dl::nn::open_model(a.models[0], dl::cli::log());
  std::string bytes;
  try {
    bytes = dl::convert::to_onnx(model, options);
  } catch (Error& e) {
    e.add_context("'" + a.models[0] + "'");
    throw;
  }
  const auto sink = dl::io::open_sink(a.output);
  sink->write(std::as_bytes(std::span(bytes)));
  sink->close();
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
