// One call of one Keras layer, and what is made of it.
//
// A class of layers is one function of a file of its family (layers_*.cpp),
// which reads the layer's configuration, adds nodes to the network, and says
// where their numbers are.  Shapes here are ours: channels come last.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_SITE_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_SITE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/keras/dialect.h"
#include "libcore/convert/import/keras/spec.h"
#include "libcore/convert/import/keras/weights.h"

namespace dl::convert::keras {

// A value as Keras sees it.
struct Flow : Value {
  // Keras has its channels first; here they are last.
  bool moved = false;
  // Keras has a mask with it, that which this node made.
  bool masked = false;
  std::string mask = {};
  // Recurrent layers before it, by their nodes' names, that give 0 for padding
  // where Keras repeats what they gave before.
  std::set<std::string> unheld = {};
};

// Facts that are found on the way, about inputs above all: then all is made
// again.
struct Inputs {
  bool sequences = false;  // see Graph
  std::set<std::string> each_step;
  std::set<std::string> tokens;  // numbers that embeddings read
  std::set<std::string> moved;   // Keras has their channels first
  std::set<std::string> held;    // recurrent layers whose padding counts
  bool all_frozen = false;       // no layer is trainable: then all are
  bool operator==(const Inputs&) const = default;
};
struct Again {};  // thrown when what was found changes what was made

// The part of an import that is the same for all layers.
struct Import {
  Graph* graph = nullptr;
  Inputs* inputs = nullptr;
  const Dialect* dialect = nullptr;
  std::set<std::string>* notes = nullptr;  // what is left out, in sentences
  // The first node made of a layer's part: later calls share its parameters.
  std::map<std::string, std::string> owners = {};
};

class Site {
 public:
  // path: names the layer within all models, "encoder.conv1"; weights: null
  // where there are none.
  Site(Import& import, const LayerSpec& layer, std::string path,
       std::vector<Flow> in, LayerWeights* weights);

  // The same call of the layer that is within this one; `inner` outlives it.
  Site as(const LayerSpec& inner) const {
    Site same = *this;
    same.layer_ = &inner;
    return same;
  }
  // Refuses settings that were not asked for and may say something else than
  // the layer that was made (settings.cpp).
  void check_all_read() const;

  const std::vector<Flow>& in() const { return in_; }
  // Its only input.  Throws Error: kData, it has another number of them.
  const Flow& only() const;
  const Dialect& dialect() const { return *import_->dialect; }
  const LayerSpec& layer() const { return *layer_; }
  Import& import() const { return *import_; }

  // Settings of the layer; null counts as not given.  The first of the names
  // that is there: those of Keras 1 follow.
  using Keys = std::initializer_list<const char*>;
  bool has(Keys keys) const;
  std::int64_t integer(Keys keys, std::int64_t min, std::int64_t max) const;
  std::int64_t integer(Keys keys, std::int64_t min, std::int64_t max,
                       std::int64_t fallback) const;
  double number(Keys keys, double fallback) const;
  bool flag(Keys keys, bool fallback) const;
  std::string text(Keys keys, const std::string& fallback) const;
  // An integer for all, or as many integers.
  std::vector<std::int64_t> integers(Keys keys, std::size_t count,
                                     std::int64_t min, std::int64_t max) const;
  std::vector<std::int64_t> integers(
      Keys keys, std::size_t count, std::int64_t min, std::int64_t max,
      const std::vector<std::int64_t>& fallback) const;
  JsonView view(Keys keys) const;  // throws where it is not given

  // Throws Error: kData, "layer 'x' (LSTM): WHAT".
  [[noreturn]] void refuse(const std::string& what) const;
  // Notes a thing that the import leaves out, which changes no prediction.
  void note(const std::string& what) const;

  // Adds a node, named by the layer and `part` ("" for the layer itself); its
  // name is set here.  With parameters, it is that of the layer's first call.
  Flow add(const std::string& part, Json node, const std::vector<Flow>& from);
  // The node that add() made last with the part "".
  const std::string& main_node() const { return main_node_; }
  // After add(), of the node: where the numbers of a parameter come from.
  // Nothing happens where there are no weights, or the node shares its own.
  void fill(const std::string& node, const std::string& tensor, Fill fill);
  void fill(const std::string& tensor, Fill fill) {  // of main_node()
    this->fill(main_node_, tensor, std::move(fill));
  }
  // Whether the file has weights.
  bool weighted() const { return weights_ != nullptr; }
  // Weights of the layer, of these shapes; empty ones where there are none, as
  // of later calls.
  std::vector<Array> take(const std::string& below,
                          const std::vector<tensor::Shape>& shapes);
  bool first_call() const { return first_call_; }

  // A value with its channels as Keras counts axes: first if they are so.
  Flow as_keras(const Flow& value, const std::string& part = "order");
  // With its channels last, where Keras has them first.
  Flow channels_last(const Flow& value, const std::string& part = "channels");
  // An axis as Keras counts them, the batch being 0 and the last one -1, as one
  // of an example of that value: 0 is the first one of Keras's.
  int axis_of(std::int64_t axis, const Flow& value) const;
  // The result of `make` for the only input with that axis last, which is then
  // put back; channels: the axis is that of the channels, if it is the first.
  Flow along(std::int64_t axis, bool channels,
             const std::function<Flow(const Flow&)>& make);
  // Within a TimeDistributed a series is an image of one column: layers of
  // series read sequences, of which there is one already.
  bool as_columns(std::size_t axes) const { return each_step_ && axes == 1; }
  Flow column(const Flow& value);
  Flow series(const Flow& value, const std::string& part);
  // The same numbers, not as a sequence: for what looks at all steps at once.
  Flow as_one(const Flow& value);
  // Whether the layer, of that many axes beside its channels, has them first.
  bool channels_first(std::size_t axes) const;
  // Without its mask: where Keras forgets it.
  Flow without_mask(const Flow& value);
  // Takes the masks from all inputs, where Keras's layer forgets them.
  void forget_masks();
  // The sequences of a recurrent layer with the padding that Keras has.
  Flow held(const Flow& value);
  // Marks a value whose padding differs from that of Keras: `what` is why it is
  // refused if padding counts.
  void leave_padding(Flow& flow, const std::string& what) const;
  // Where what padding is counts: has it be as in Keras.
  void want_held(const Flow& value) const;

  // The keys of training for a node with weights: initializers, regularizers,
  // constraints; prefix: "kernel", "depthwise".
  void add_training(Json& node, const std::string& prefix) const;

  // Within a TimeDistributed, nodes take each step of their input, and the
  // weights of Keras 3 lie below another layer.
  void set_each_step(bool on) { each_step_ = on; }
  // Within one that takes all steps at once, its axes are those of a step.
  void set_all_steps(bool on) { all_steps_ = on; }
  void set_only(Flow value) { in_ = {std::move(value)}; }
  bool each_step() const { return each_step_; }
  // How it is called.
  void set_call(const CallSpec& call) { call_ = call; }
  const CallSpec& call() const { return call_; }
  // Whether it does in training what it does in a prediction: it, or a model
  // that it lies in, is called with training=False.
  void set_still(bool on) { still_ = on; }
  bool still() const { return still_; }
  void set_below(const std::string& below) {
    below_ += (below_.empty() ? "" : "/") + below;
  }
  // A further call, which shares what the first one made.
  void set_further() { first_call_ = false; }
  LayerWeights* weights() const { return weights_; }
  const std::string& path() const { return path_; }
  // The shape that the layer sees of a value: with each_step(), that of a step.
  tensor::Shape shape(const Flow& flow) const {
    return each_step_ ? flow.shape().without_first() : flow.shape();
  }

 private:
  std::optional<JsonView> find(Keys keys) const;
  std::string name() const;  // for messages: "layer 'x' (LSTM)"

  Import* import_;
  const LayerSpec* layer_;
  std::string path_;
  std::vector<Flow> in_;
  LayerWeights* weights_;
  bool first_call_;
  bool each_step_ = false, all_steps_ = false, still_ = false;
  // The settings that were asked for, also of layers within this one.
  std::shared_ptr<std::set<std::string>> read_ =
      std::make_shared<std::set<std::string>>();
  CallSpec call_;
  std::string below_, main_node_;
};

// The result of `make` for each step of a value, one by one: for layers that
// networks here do not apply to all steps at once.
Flow step_by_step(
    Site& site, const Flow& value,
    const std::function<Flow(const Flow& step, bool first)>& make);
// Whether a layer, in a TimeDistributed, has to be made step by step.
bool reads_steps(const LayerSpec& layer);

// A class of layers: what is made of a call.
using Make = Flow (*)(Site& site);
struct Class {
  std::string_view name;
  Make make;
};

// Names that Keras has for one thing alike: "ReLU" and "relu", "he_normal" and
// "HeNormal".
std::string plain(std::string name);

// Null if there is none of that name.
Make find_class(std::string_view name);
// Why a class of Keras's own is not imported, and what would be needed; "" of
// others.
std::string why_not(std::string_view class_name);

// The families, each in its file.
std::vector<Class> core_classes();
std::vector<Class> activation_classes();
std::vector<Class> convolution_classes();
std::vector<Class> pool_classes();
std::vector<Class> shape_classes();
std::vector<Class> slice_classes();
std::vector<Class> norm_classes();
std::vector<Class> noise_classes();
std::vector<Class> recurrent_classes();
std::vector<Class> merge_classes();
std::vector<Class> arithmetic_classes();
std::vector<Class> attention_classes();
std::vector<Class> wrapper_classes();

// The result of an activation function of Keras on a value: by name, by
// {"class_name", "config"}, or null.  Several nodes where ours has no such.
Flow activated(Site& site, const Flow& value, const Json& activation,
               const std::string& part = "activation");
// As one of our activations, where it is one: for "activation" of a node.
std::optional<Json> activation_of(const Json& activation,
                                  const Dialect& dialect);
// A node with the layer's "activation", which others follow where ours has no
// such: adds it.
Flow add_activated(Site& site, Json node, const std::vector<Flow>& from);

inline Sizes sizes_of(const tensor::Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_SITE_H_
