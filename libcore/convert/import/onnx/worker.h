// The body of a loop, worked out for numbers that are known.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_WORKER_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_WORKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {

// Functions of a number that cells of recurrent layers have, by operator.
using Function = double (*)(double);
const std::map<std::string, Function>& cell_functions();

// A constant of the graph around the body, by name; null: it is none.
const Constant* constant_around(const Site& site, const std::string& name);

// Computes what nodes of a body make of known values, and only the values that
// this needs.
class Worker {
 public:
  // numbers: how many may be made.
  Worker(const Site& site, const Body& body, std::int64_t numbers)
      : site_(site), left_(numbers) {
    for (const Node& node : body.nodes)
      for (const std::string& out : node.out) makers_[out] = &node;
  }

  void set(const std::string& name, Constant value) {
    known_.insert_or_assign(name, std::move(value));
  }
  const Node* maker(const std::string& name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? nullptr : found->second;
  }
  // Without nodes that change nothing.
  std::string source(std::string name) const {
    const Node* node = maker(name);
    for (std::size_t i = 0; node != nullptr && i < makers_.size(); ++i) {
      if (node->op != "Identity" || node->in.size() != 1) break;
      name = node->in[0];
      node = maker(name);
    }
    return name;
  }
  // Null: it does not follow from these.
  const Constant* value(const std::string& name);

 private:
  bool run(const Node& node);

  const Site& site_;
  std::int64_t left_;
  std::map<std::string, const Node*> makers_;
  std::map<std::string, Constant> known_;
  std::set<const Node*> running_;
};

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_WORKER_H_
