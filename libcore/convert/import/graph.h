// A network that is being made of another program's, node by node.
//
// Each node is a layer of dl-network(5) as its JSON object says it; the types
// of layers (nn/config/layer_type.h) say what comes out, so that who imports
// knows the shapes here as it goes.

#ifndef DL_LIBCORE_CONVERT_IMPORT_GRAPH_H_
#define DL_LIBCORE_CONVERT_IMPORT_GRAPH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/tensor/shape.h"

namespace dl::convert {

// Limits for settings of other programs: numbers of units, which are 32-bit
// integers there, and extents of windows and edges.
constexpr std::int64_t kMostUnits = 2147483647;
constexpr std::int64_t kMostExtent = 65535;

using Sizes = std::vector<std::int64_t>;

// A value between two nodes.
struct Value {
  std::string node;  // or the input
  nn::ValueSpec form;
  const tensor::Shape& shape() const { return form.shape; }
};

// Writes the numbers of a parameter, which has as many as `to`.
using Fill = std::function<void(std::span<float> to)>;

// An input or output as the other program has it.
struct Port {
  std::string name;
  bool moved = false;     // its channels come first there, last here
  std::size_t batch = 0;  // which of its dimensions examples are there
};

// The training objective of an output.
struct Aim {
  Json loss;  // "mean_squared_error"; null: by the activation
  double loss_weight = 1;
  // Further keys of a layer with a loss.
  Json keys = Json::object();
};

class Graph {
 public:
  // A few lines of models within models that are called twice, each within the
  // next, are as many layers as one likes.
  static constexpr std::size_t kMaxNodes = 20'000;

  // sequences: whether inputs of two dimensions are sequences, as they are in
  // networks with layers that read some; each_step: inputs whose first
  // dimension is time, as a layer takes them step by step.  Both are known when
  // a network is made: it is made again then.
  Graph(bool sequences, std::set<std::string> each_step)
      : sequences_(sequences), each_step_(std::move(each_step)) {}

  // name: any; a name of our own is made of it.  tokens: whole numbers that an
  // embedding reads.
  Value input(const std::string& name, const tensor::Shape& shape, bool tokens);

  // node: with its type and name, as the document has it, and with all that it
  // says even where it shares the parameters of another node, `shares`.
  // Throws Error: kData, "kernel 5x5 is larger than its input 4x4x50"; it is
  // one more than kMaxNodes.
  Value add(Json node, const std::vector<Value>& from,
            const std::string& shares = {});
  // A name of letters, digits, '_', '-' and '.' that no node has, of any text.
  std::string fresh_name(const std::string& wanted) const;

  // Numbers of a tensor that is there: "weight" of the node "dense1".
  void fill(const std::string& node, const std::string& tensor, Fill fill) {
    fills_[node + "/" + tensor] = std::move(fill);
  }
  const std::map<std::string, Fill>& fills() const { return fills_; }

  bool is_input(const std::string& name) const {
    return input_names_.count(name) > 0;
  }
  // Leaves out nodes of which none of these is made.
  void drop_unread(const std::vector<Value>& outputs);
  // Whether there is something to train that is not frozen.
  bool trains() const;
  // Facts that the constructor should have been told.
  bool reads_sequences() const { return reads_sequences_; }
  const std::set<std::string>& found_each_step() const {
    return found_each_step_;
  }

  // The document of the network that gives these, each with its loss; nodes
  // become outputs where they can.  A chain is written as one, unless its input
  // is to keep a name that says something, of which a chain has none.
  Json document(const std::vector<Value>& outputs, const std::vector<Aim>& aims,
                bool names_input = false);
  // The names that its outputs have then, in their order.
  const std::vector<std::string>& output_names() const { return outputs_; }
  // Outputs whose aim does not go with their activation: they have the usual
  // loss.
  const std::vector<std::string>& with_other_loss() const {
    return with_other_loss_;
  }
  const std::vector<Json>& inputs() const { return inputs_; }

 private:
  struct Node {
    Json json;
    std::vector<std::string> from;
    std::string shares;
    std::size_t readers = 0;
    bool shared = false;
  };
  Node* find(const std::string& name);
  void read(const std::string& name);
  // Loss keys for an output that ends in that activation.
  Json loss_keys(const Value& output, const Aim& aim,
                 const std::string& activation);
  std::string finish(const Value& output, const Aim& aim);
  bool is_chain() const;

  bool sequences_;
  std::set<std::string> each_step_, found_each_step_;
  bool reads_sequences_ = false;
  std::vector<Json> inputs_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> by_name_;
  std::set<std::string> input_names_;
  std::map<std::string, Fill> fills_;
  std::vector<std::string> outputs_, with_other_loss_;
  // By name: all smaller numbers behind it are taken.
  mutable std::map<std::string, int> next_number_;
};

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_GRAPH_H_
