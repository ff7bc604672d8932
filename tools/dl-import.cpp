// dl-import - bring models of other programs in
// For users: man/dl-import.1.scd.  The formats: libcore/convert.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/convert/import/check.h"
#include "libcore/convert/import/import.h"
#include "libcore/convert/import/state_dict.h"
#include "libcore/convert/import/supplement.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/datavec/datavec.h"
#include "tools/dl-import-options.h"

namespace {

using dl::Code;
using dl::Error;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-import",
    .summary = "Import models of Keras, Deeplearning4j, ONNX and PyTorch.",
    .usage =
        "dl-import [OPTION]... -o MODEL FILE\n"
        "dl-import [OPTION]... --check DATA FILE\n"
        "dl-import --datavec [-o RECIPE] FILE\n"
        "dl-import --weights STATE --net NETWORK --map NAMES -o MODEL\n"
        "dl-import --weights STATE --net NETWORK --map -",
    .examples =
        "dl-import resnet50.keras -o resnet50.safetensors\n"
        "dl-import model.json -o network.json\n"
        "dl-import model.json --weights model.weights.h5 -o m.safetensors\n"
        "dl-import chars.h5 --shape 100,64 -o chars.safetensors\n"
        "dl-import lenet.zip --shape 28,28,1 -o lenet.safetensors\n"
        "dl-import resnet50.keras --check recorded.npz\n"
        "dl-import resnet18.onnx -o resnet18.safetensors\n"
        "dl-import --datavec transform.json -o recipe.json\n"
        "dl-import --weights state.safetensors --net net.json --map - "
        ">map.json\n"
        "dl-import --weights state.safetensors --net net.json --map map.json "
        "-o m.safetensors",
    .on_kill = dl::io::remove_unfinished,
};

std::string text_of_file(const std::string& path) {
  const auto source = dl::io::open_source(path);
  std::string text = dl::io::read_all(*source, std::size_t{64} << 20);
  source->close();
  return text;
}

void write_network(const dl::Json& network, const std::string& path) {
  dl::io::write_whole(path, network.dump(2) + "\n");
}

// A state dict of PyTorch in a network of ours.
void map_weights(const Args& args) {
  if (!args.files.empty() || args.weights.empty() || args.map.empty())
    throw Error{Code::kUsage,
                "--net goes with --weights and --map, and no file"};
  dl::io::refuse_overwriting(args.output, {args.net, args.weights, args.map});
  const dl::nn::NetworkConfig config =
      dl::nn::parse_network(text_of_file(args.net), "'" + args.net + "'");
  const auto state = dl::convert::read_state_dict(args.weights);
  if (args.map == "-") {
    std::cout << dl::convert::proposed_map(config, state).dump(2) << '\n';
    return;
  }
  if (args.output.empty()) throw Error{Code::kUsage, "--output is missing"};
  const dl::Json map = dl::parse_json(text_of_file(args.map),
                                      "'" + args.map + "'", Code::kConfig);
  dl::nn::Model model = dl::convert::mapped_model(config, state, map);
  if (const std::string note = dl::convert::unused_note(state, map);
      !note.empty())
    dl::cli::log()(dl::Level::kWarning, note);
  model.provenance.push_back({.tool = kTool.name,
                              .version = DL_VERSION,
                              .arguments = {"PyTorch state dict"}});
  dl::nn::save_model(model, args.output);
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
  bool good = true;
  for (const auto& one : dl::convert::compare(imported, inputs, expected)) {
    std::cout << dl::displayed(one.output) << ": " << one.examples
              << " examples, largest difference " << one.largest
              << ", largest output " << one.magnitude << '\n';
    good = good && one.within(args.tolerance, args.absolute);
  }
  if (!good)
    throw Error{Code::kNo, "outputs differ by more than the tolerance"};
}

// A TransformProcess of DataVec, as a recipe.
void import_datavec(const Args& args) {
  if (args.files.size() != 1) throw Error{Code::kUsage, "want one file"};
  const std::string name = "'" + args.files[0] + "'";
  dl::io::refuse_overwriting(args.output, {args.files[0]});
  const auto made = dl::vectorize::recipe_of_datavec(
      dl::parse_json(text_of_file(args.files[0]), name, Code::kData), name);
  for (const std::string& note : made.notes)
    dl::cli::log()(dl::Level::kWarning, note);
  write_network(made.recipe, args.output.empty() ? "-" : args.output);
}

void run(const Args& args) {
  if (args.datavec) return import_datavec(args);
  if (!args.net.empty() || !args.map.empty()) return map_weights(args);
  if (args.files.size() != 1) throw Error{Code::kUsage, "want one file"};
  if (args.output.empty() && args.check.empty())
    throw Error{Code::kUsage, "--output is missing"};
  if (!args.expect.empty() && args.check.empty())
    throw Error{Code::kUsage, "--expect goes with --check"};
  if (!(args.tolerance >= 0))
    throw Error{Code::kUsage, "--tolerance: want a number from 0 on"};
  if (!(args.absolute >= 0))
    throw Error{Code::kUsage, "--absolute: want a number from 0 on"};
  dl::io::refuse_overwriting(
      args.output, {args.files[0], args.weights, args.check, args.expect});
  if (!args.backend.empty() && args.backend != "theano" &&
      args.backend != "tensorflow")
    throw Error{Code::kUsage, "--backend: want theano or tensorflow, got '" +
                                  args.backend + "'"};
  dl::convert::ImportOptions options{.weights = args.weights,
                                     .backend = args.backend};
  for (const std::string& text : args.shapes)
    if (!options.shapes.insert(parse_shape(text)).second)
      throw Error{Code::kUsage, "--shape: one input has two shapes"};
  dl::convert::Imported imported =
      dl::convert::import_model(args.files[0], options);
  dl::io::refuse_overwriting(args.output, imported.beside);
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
