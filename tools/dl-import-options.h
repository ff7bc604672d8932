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
  double tolerance = 1e-4, absolute = 1e-6;
  std::vector<std::string> shapes, files;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "MODEL",
          "the model, or the network of a configuration without weights");
  opt.add("weights", &a.weights, "FILE",
          "the weights (HDF5) of a configuration in JSON; with --net, a state "
          "dict of PyTorch (safetensors)");
  opt.add("net", &a.net, "NETWORK",
          "put the weights of a state dict into this network");
  opt.add("map", &a.map, "NAMES",
          "names of tensors in the state dict; - prints a proposal");
  opt.add("backend", &a.backend, "NAME",
          "theano or tensorflow: what computed a model of Keras, if it says "
          "nothing");
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
  opt.add("absolute", &a.absolute, "X",
          "differences that never count: added to those of --tolerance");
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
