// The options of dl-import.

#ifndef DL_TOOLS_DL_IMPORT_OPTIONS_H_
#define DL_TOOLS_DL_IMPORT_OPTIONS_H_

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/options.h"
#include "libcore/tensor/tensor.h"

struct Args {
  std::string output, weights, net, map, backend, classes, normalize, check,
      expect;
  bool datavec = false;
  double tolerance = 1e-4, absolute = 1e-6;
  std::vector<std::string> shapes, files;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "MODEL",
          "model to write, or the network (JSON) if the input has no weights");
  opt.add("weights", &a.weights, "FILE",
          "HDF5 weights of a Keras JSON configuration; with --net, a PyTorch "
          "state dict (safetensors)");
  opt.add("net", &a.net, "NETWORK",
          "network (JSON) to fill with the weights of a state dict");
  opt.add("map", &a.map, "NAMES",
          "JSON file that maps names of a state dict to tensors of the "
          "network; - prints a proposal");
  opt.add("backend", &a.backend, "NAME",
          "Keras backend, theano or tensorflow, for a Keras file that does not "
          "name it");
  opt.add("shape", &a.shapes, "[INPUT=]SHAPE",
          "input shape, such as 28,28,1, where the model leaves it open");
  opt.add("classes", &a.classes, "NAMES",
          "class names, separated by commas, such as cat,dog");
  opt.add("normalize", &a.normalize, "KIND",
          "scaling of bytes to add in front of the model: scale (to 0..1), "
          "signed (to -1..1), imagenet or vgg");
  opt.add("check", &a.check, "DATA",
          "run the imported model on the inputs in DATA and compare its "
          "outputs with those recorded there");
  opt.add("expect", &a.expect, "DATA",
          "recorded outputs for --check; default: those inside the DATA of "
          "--check");
  opt.add("tolerance", &a.tolerance, "X",
          "with --check: exit with 1 if outputs differ from those expected by "
          "more than this share of the largest");
  opt.add(
      "absolute", &a.absolute, "X",
      "absolute difference that --check always allows, added to --tolerance");
  opt.flag("datavec", &a.datavec,
           "read a TransformProcess of DataVec (JSON), and write the recipe "
           "that does the same");
  opt.rest(&a.files);
}

// "left=28,28,1"
inline std::pair<std::string, dl::tensor::Shape> parse_shape(
    const std::string& text) {
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
      throw dl::Error{dl::Code::kUsage,
                      "--shape: want integers from 1 on with commas "
                      "between, as 28,28,1, got '" +
                          text + "'"};
    extents.push_back(extent);
    at = next;
    if (at == end) break;
  }
  return {name, dl::tensor::Shape(std::span<const std::int64_t>(extents))};
}

#endif  // DL_TOOLS_DL_IMPORT_OPTIONS_H_
