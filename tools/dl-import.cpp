// dl-import - bring models of other programs in
// For users: man/dl-import.1.scd.  The formats: libcore/convert.

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/convert/import/check.h"
#include "libcore/convert/import/import.h"
#include "libcore/convert/import/supplement.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-import",
    .summary = "Bring models of other programs in: Keras and Deeplearning4j.",
    .usage =
        "dl-import [OPTION]... -o MODEL FILE\n"
        "dl-import [OPTION]... --check DATA FILE",
    .examples =
        "dl-import resnet50.keras -o resnet50.safetensors\n"
        "dl-import model.json -o network.json\n"
        "dl-import model.json --weights model.weights.h5 -o m.safetensors\n"
        "dl-import chars.h5 --shape 100,64 -o chars.safetensors\n"
        "dl-import lenet.zip --shape 28,28,1 -o lenet.safetensors\n"
        "dl-import resnet50.keras --check recorded.npz",
    .on_kill = dl::io::remove_unfinished,
};

struct Args {
  std::string output, weights, classes, normalize, check, expect;
  double tolerance = 1e-4;
  std::vector<std::string> shapes, files;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "MODEL",
          "the model, or the network of a configuration without weights");
  opt.add("weights", &a.weights, "FILE",
          "the weights (HDF5) of a configuration in JSON");
  opt.add("shape", &a.shapes, "[INPUT=]SHAPE",
          "extents of an input that the model leaves open, as 28,28,1");
  opt.add("classes", &a.classes, "NAMES",
          "names of its classes with commas between, as cat,dog");
  opt.add("normalize", &a.normalize, "KIND",
          "scale or signed: bytes that were made 0..1 or -1..1 outside of it");
  opt.add("check", &a.check, "DATA",
          "run the model on these inputs, and compare with outputs");
  opt.add("expect", &a.expect, "DATA",
          "the recorded outputs; else DATA of --check has them as well");
  opt.add("tolerance", &a.tolerance, "X",
          "exit with 1 if outputs differ by more, relative to the largest");
  opt.rest(&a.files);
}

// "left=28,28,1"
std::pair<std::string, dl::tensor::Shape> parse_shape(const std::string& text) {
  const auto equals = text.rfind('=');
  const std::string name =
      equals == std::string::npos ? "" : text.substr(0, equals);
  const std::string list =
      equals == std::string::npos ? text : text.substr(equals + 1);
  std::vector<std::int64_t> extents;
  const char *at = list.data(), *end = at + list.size();
  for (; at <= end; ++at) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || extent > 2147483647 ||
        (next != end && *next != ',') || extents.size() == 7)
      throw Error{Code::kUsage,
                  "--shape: want integers from 1 on with commas "
                  "between, as 28,28,1, got '" +
                      text + "'"};
    extents.push_back(extent);
    at = next;
    if (at == end) break;
  }
  return {name, dl::tensor::Shape(std::span<const std::int64_t>(extents))};
}

void write_network(const dl::Json& network, const std::string& path) {
  const std::string text = network.dump(2) + "\n";
  const auto sink = dl::io::open_sink(path);
  sink->write(std::as_bytes(std::span(text)));
  sink->close();
}

// Prints a line for each output.
void check(const dl::convert::Imported& imported, const Args& args) {
  if (!imported.model)
    throw Error{Code::kUsage, "--check wants a model with weights"};
  const dl::convert::Arrays inputs = dl::convert::read_arrays(args.check);
  dl::convert::Arrays expected =
      args.expect.empty() ? inputs : dl::convert::read_arrays(args.expect);
  if (auto only = expected.extract("x"); !args.expect.empty() && only) {
    only.key() = "y";
    expected.insert(std::move(only));
  }
  double worst = 0;
  for (const auto& one : dl::convert::compare(imported, inputs, expected)) {
    std::cout << one.output << ": " << one.examples
              << " examples, largest difference " << one.largest
              << ", largest output " << one.magnitude << '\n';
    worst = std::max(worst, one.largest / std::max(one.magnitude, 1e-30));
  }
  if (!(worst <= args.tolerance))
    throw Error{Code::kNo, "outputs differ by more than the tolerance"};
}

void run(const Args& args) {
  if (args.files.size() != 1) throw Error{Code::kUsage, "want one file"};
  if (args.output.empty() && args.check.empty())
    throw Error{Code::kUsage, "--output is missing"};
  if (!args.expect.empty() && args.check.empty())
    throw Error{Code::kUsage, "--expect goes with --check"};
  if (!(args.tolerance >= 0))
    throw Error{Code::kUsage, "--tolerance: want a number from 0 on"};
  dl::io::refuse_overwriting(
      args.output, {args.files[0], args.weights, args.check, args.expect});
  dl::convert::ImportOptions options{.weights = args.weights};
  for (const std::string& text : args.shapes)
    if (!options.shapes.insert(parse_shape(text)).second)
      throw Error{Code::kUsage, "--shape: one input has two shapes"};
  dl::convert::Imported imported =
      dl::convert::import_model(args.files[0], options);
  for (const std::string& note : imported.notes)
    dl::cli::log()(dl::Level::kWarning, note);
  // As the other program has it, with what it was given.
  if (!args.check.empty()) check(imported, args);
  if (imported.model && !args.classes.empty())
    dl::convert::name_classes(*imported.model, args.classes);
  if (imported.model && !args.normalize.empty())
    dl::convert::normalize_bytes(*imported.model, args.normalize);
  if (args.output.empty()) return;
  if (!imported.model) {
    for (const std::string* option : {&args.classes, &args.normalize})
      if (!option->empty())
        throw Error{
            Code::kUsage,
            std::string(option == &args.classes ? "--classes" : "--normalize") +
                " wants a model with weights"};
    return write_network(imported.network, args.output);
  }
  imported.model->provenance.push_back({.tool = kTool.name,
                                        .version = DL_VERSION,
                                        .arguments = {imported.from}});
  dl::nn::save_model(*imported.model, args.output);
  dl::cli::log()(dl::Level::kInfo,
                 imported.from + ": " +
                     std::to_string(imported.model->parameters.size()) +
                     " parameters");
  dl::cli::log()(dl::Level::kInfo,
                 "trains with " + dl::convert::training_of(imported));
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
