// One node of a model, and what is made of it.
//
// A family of operators is one file (layers_*.cpp): each function reads the
// node, adds layers to the network, and says what its outputs are.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_SITE_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_SITE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/convert/import/onnx/flow.h"
#include "libcore/convert/import/onnx/model.h"

namespace dl::convert::onnx {

// Facts that are found on the way: then all is made again.
struct Inputs {
  bool sequences = false;             // see Graph
  std::set<std::string> moved;        // their channels are last here
  std::set<std::string> tokens;       // whole numbers that embeddings read,
  std::set<std::string> numbers;      // or that something computes with
  std::set<std::string> steps_first;  // the batch is their second dimension
  bool all_frozen = false;            // no layer is trained: then all are
  bool operator==(const Inputs&) const = default;
};
struct Again {};

// The part of an import that is the same for all nodes.
struct Import {
  const Model* model = nullptr;
  Graph* graph = nullptr;
  Inputs* inputs = nullptr;
  std::set<std::string>* notes = nullptr;
  // The size that the batch is counted as: in a model that leaves it open a
  // prime that is no other extent, so that what is computed of shapes shows it.
  std::int64_t batch = 1;
  bool open_batch = false;
  std::int64_t left = 0;  // numbers that may still be made of constants
  std::map<std::string, Flow> flows = {};
  std::map<std::string, int> types = {};  // of inputs: numbers.h
  std::map<std::string, Constant> constants = {};
  std::map<std::string, std::vector<const Node*>> readers = {};  // null: output
  std::set<const Node*> done = {};           // taken over by one before
  std::map<std::string, Value> same = {};    // what shaped() made
  std::map<std::string, Value> before = {};  // what a reshape was made of
};

class Site {
 public:
  Site(Import& import, const Node& node) : import_(&import), node_(&node) {}

  const Node& node() const { return *node_; }
  Import& import() const { return *import_; }

  // Inputs.
  bool has(std::size_t i) const { return !node_->input(i).empty(); }
  // Null where it is none.
  const Constant* constant(std::size_t i) const;
  // Throws Error: kData, it is not there, or a constant.
  const Constant& known(std::size_t i, const char* what) const;
  const Flow& flow(std::size_t i) const;
  // Numbers that are an input of newer opsets and an attribute of older ones.
  std::optional<Sizes> list(std::size_t i, const char* key) const;

  // Throws Error: kData, "node 'x' (LSTM): WHAT".
  [[noreturn]] void refuse(const std::string& what) const;

  // Axes, counted from the end where negative.
  std::size_t axis(std::int64_t given, std::size_t rank) const;
  std::int64_t extent(const Flow& flow, int part) const;
  Sizes shape(const Flow& flow) const;  // as ONNX has it
  std::int64_t extent_of(const Flow& flow, std::size_t axis) const;

  // Adds a layer, named by the node and `part`.
  Value add(const std::string& part, Json layer, const std::vector<Value>& from,
            const std::string& shares = {});
  void fill(const std::string& layer, const std::string& tensor, Fill fill) {
    import_->graph->fill(layer, tensor, std::move(fill));
  }
  // Gives output i.  With several nodes taken over, that of the last.
  void give(Flow flow, std::size_t i = 0);
  void give(Constant constant, std::size_t i = 0);

  // The only node that reads an output; null: none, several, or the network's
  // output is it.
  const Node* only_reader() const;
  // The node which reads the output alone is done with this one.
  void take_over(const Node* next);
  // Name of what output 0 is after all that was taken over.
  const std::string& output() const;

  // The numbers of a value here with axes [ours[0], ours[1], ...], each of one
  // or several of the value's in row-major order.  Axes of 1 may be left out.
  Value shaped(const Flow& flow, const std::vector<Axis>& ours,
               const std::string& part = "order");
  Value reshaped(const Value& value, const Sizes& shape,
                 const std::string& part = "shape");
  // Axis k of ONNX's as the last one here, by itself.
  Flow with_last(const Flow& flow, std::size_t k);
  // An image of as many axes: [n, c, ...] as [..., c].
  Flow image(const Flow& flow, std::size_t axes);
  // An image that is an input and that a convolution reads, by way of what this
  // node and others do to each number or channel, has its channels last from
  // the first of them on.
  void move_channels(const Flow& flow) const;
  // Every axis of ONNX's one here, or none where its extent is 1; "what" needs
  // it.
  Flow plain(const Flow& flow);
  // An attention that nothing else comes of is a layer now.
  Flow real(const Flow& flow);
  // Views.
  Flow regrouped(const Flow& flow, const Sizes& shape);  // Reshape
  Flow squeezed(Flow flow, std::vector<std::size_t> axes) const;
  // begin to end along an axis.
  Flow part_of(const Flow& flow, std::size_t axis, std::int64_t begin,
               std::int64_t end);
  // Along an axis what is at these places, in their order.
  Flow taken(const Flow& flow, std::size_t axis, const Sizes& places);
  // Sums along an axis: a matrix [new extent, extent].
  Flow through(const Flow& flow, std::size_t axis, const Constant& matrix,
               bool frozen = true);
  // The values in one shape and order, as ONNX repeats axes of 1.
  std::vector<Flow> alike(const std::vector<Flow>& flows);

  // W x + b along the last axis; fills: [units, columns as ONNX has them].
  Flow product(const Flow& flow, std::int64_t units, const Constant& weight,
               bool columns_first, const Constant* bias, const Json& activation,
               bool frozen = false);

 private:
  std::optional<Flow> spaced(const Flow& flow, std::size_t axis,
                             const Sizes& places);
  Flow split(const Flow& flow, const std::map<int, Sizes>& parts);
  Value repeated(const Value& value, const tensor::Shape& to,
                 const std::string& part);

  Import* import_;
  const Node* node_;
  const Node* last_ = nullptr;  // the last that was taken over
};

// The function that imports an operator.
using Make = void (*)(Site& site);
struct Operator {
  std::string_view name;
  Make make;
};
Make find_operator(const Node& node);
// Why there is none, and what would be needed.
std::string why_not(const Node& node);

std::vector<Operator> activation_operators();
std::vector<Operator> combine_operators();
std::vector<Operator> convolution_operators();
std::vector<Operator> dense_operators();
std::vector<Operator> loop_operators();
std::vector<Operator> norm_operators();
std::vector<Operator> pad_operators();
std::vector<Operator> piecewise_operators();
std::vector<Operator> pool_operators();
std::vector<Operator> recurrent_operators();
std::vector<Operator> reduce_operators();
std::vector<Operator> resize_operators();
std::vector<Operator> shape_operators();

// Throws Error: kData, a matrix of so many rows and columns for through() would
// be too large.
void want_small(const Site& site, std::int64_t to, std::int64_t from);

// As "activation" of a layer, where the node is one of each number by itself.
std::optional<Json> activation_of(Import& import, const Node& node);
// Takes over the activation of the only reader; else null. A Softmax is one
// where it is along that axis of ONNX's, of so many, which is the last here.
Json take_activation(Site& site, std::size_t rank, std::size_t axis);
bool is_positive(const Json& activation);

// Attention, if the product of two matrices is a part of it; null: it is not.
std::optional<Flow> attended(Site& site, const Flow& a, const Flow& b);
// The layer, with what projects its output: units numbers of `linear`; or none.
Flow attention_layer(Site& site, const Flow& mixed, const Linear* output);
// The same with a factor and an offset for each number of an example, as ONNX
// repeats constants.
Flow scaled_by_each(Site& site, const Flow& flow, const Constant* factor,
                    const Constant* offset, bool trains = false);
// |x|
Flow magnitude(Site& site, const Flow& flow);
// y = x^2
Flow squared(Site& site, const Flow& flow);
// y = factor x + amount
Flow line(Site& site, const Flow& flow, double factor, double amount);
// Zeros before and behind what lies along an axis.
Flow with_zeros_along(Site& site, const Flow& flow, std::size_t axis,
                      std::int64_t begin, std::int64_t end);
// Whether an input is called as what a module learns is, and not as a buffer or
// a constant of its code.
bool is_parameter(const Site& site, std::size_t i);
// max(x, c), or min(x, c), of two inputs of which one is a number; else none.
std::optional<Flow> bounded_by(Site& site, bool largest);
// y = w x + b for each index of an axis; null: 1, 0.  Frozen, unless `trains`
// or nothing else does.
Flow scaled_by(Site& site, const Flow& flow, std::size_t axis,
               const Constant* factor, const Constant* offset,
               bool trains = false);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_SITE_H_
