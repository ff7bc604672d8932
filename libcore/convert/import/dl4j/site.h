// One vertex of a DL4J model, and what is made of it.
//
// A class of layers is one function of a file of its family (layers_*.cpp),
// which reads the layer's configuration, adds nodes to the network, and says
// which of the model's numbers are theirs.  Shapes here are ours: channels come
// last, time first.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_SITE_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_SITE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/dl4j/conf.h"
#include "libcore/convert/import/graph.h"

namespace dl::convert::dl4j {

// A value as DL4J sees it.
struct Flow : Value {
  // A vector whose numbers are those of an image or a volume, [.., channels]:
  // its shape.  DL4J has the channels first in it, so that they lie otherwise.
  tensor::Shape image = {};
  // Layers take each step of it by itself, as a batch of their own in DL4J.
  bool each = false;
  // DL4J has its channels last, too: NHWC, NWC, NDHWC.
  bool last = false;
};

// A parameter of DL4J: where it lies in the vector of all.
struct Variable {
  std::string name;  // "W"
  std::size_t offset = 0, count = 0;
  Json updater = {};  // its updater's configuration; null: it has none
  // The block of a parameter of pretraining alone: not in one with those of
  // other layers.
  std::string block = {};
  std::size_t place = 0;  // of its vertex in the state, else by the offset
};

// From the numbers of a variable, or of its updater's state, to ours.
using Map = std::function<void(std::span<const float> from, std::span<float>)>;

// The numbers of a tensor here: "dense1/weight".
inline constexpr std::size_t kNoVariable = static_cast<std::size_t>(-1);
struct Source {
  std::size_t variable = kNoVariable;  // index; none: the map reads nothing
  Map map = {};
  // A second variable and its map, in the parameters alone.
  std::size_t second = kNoVariable;
  Map then = {};
};

// The part of an import that is the same for all vertices.
struct Import {
  Graph* graph = nullptr;
  const Conf* conf = nullptr;
  std::set<std::string>* notes = nullptr;
  // No layer reads sequences: dense layers are told to take each step.
  bool each_step = false;
  std::vector<Variable> variables = {};
  std::map<std::string, Source> sources = {};  // by our tensor
  std::map<std::string, Flow> flows = {};      // by the vertex or input
  std::map<std::string, Aim> aims = {};        // by the vertex
};

// The kind of a parameter of the model.  The layer's updater changes weights
// and biases, no updater statistics.
enum class Kind { kWeight, kBias, kStatistic, kPretraining, kPretrainingBias };

class Site {
 public:
  Site(Import& import, const Vertex& vertex, std::vector<Flow> in)
      : import_(&import),
        vertex_(&vertex),
        json_(vertex.layer.is_null() ? &vertex.json : &vertex.layer),
        in_(std::move(in)) {}

  // The layer within a wrapper; `inner` outlives it.
  Site as(const Json& inner, std::vector<Flow> in) const {
    Site same = *this;
    same.json_ = &inner;
    same.in_ = std::move(in);
    return same;
  }

  const Vertex& vertex() const { return *vertex_; }
  const Json& json() const { return *json_; }
  Import& import() const { return *import_; }
  const std::vector<Flow>& in() const { return in_; }
  // Throws Error: kData, it has another number of inputs.
  const Flow& only() const;

  // Settings.  null and "NaN" count as not given.
  bool has(const char* key) const { return !member(*json_, key).is_null(); }
  std::int64_t integer(const char* key, std::int64_t min,
                       std::int64_t max) const;
  std::int64_t integer(const char* key, std::int64_t min, std::int64_t max,
                       std::int64_t fallback) const;
  double number(const char* key, double fallback) const {
    return number_in(*json_, key, fallback);
  }
  bool flag(const char* key, bool fallback) const;
  std::string text(const char* key, const std::string& fallback) const;
  // An integer for all, or as many integers; further ones do not count.
  std::vector<std::int64_t> integers(
      const char* key, std::size_t count, std::int64_t min, std::int64_t max,
      const std::vector<std::int64_t>& fallback) const;

  // Throws Error: kData, "layer 'x' (LSTM): WHAT".
  [[noreturn]] void refuse(const std::string& what) const;
  // Notes a thing that the import leaves out, or does otherwise.
  void note(const std::string& what) const;

  // Adds a node, named by the vertex and `part` ("" for the vertex itself),
  // with the layer's keys of training.
  Flow add(const std::string& part, Json node, const std::vector<Flow>& from);
  const std::string& main_node() const { return main_node_; }

  // The next parameter of the model.
  std::size_t take(const std::string& name, std::int64_t count, Kind kind);
  // The numbers of a tensor of a node.
  void fill(const std::string& node, const std::string& tensor,
            std::size_t variable, Map map);
  void fill(const std::string& tensor, std::size_t variable, Map map) {
    fill(main_node_, tensor, variable, std::move(map));
  }
  // The same for all.
  void fill_with(const std::string& tensor, float value);

  // Sets the layer's aim, as that of the vertex.
  void set_aim(Aim aim) { import_->aims[vertex_->name] = std::move(aim); }

  // A vector in DL4J's order, and any value as DL4J has it: channels first, if
  // it has them so.
  Flow in_order(const Flow& value, const std::string& part = "order");
  Flow channels_first(const Flow& value, const std::string& part = "order");
  Flow channels_last(const Flow& value, const std::string& part = "channels");
  // One vector: flattened where it is none.
  Flow vector(const Flow& value, const std::string& part = "flat");
  // The shape that a layer sees of a value: with `each`, that of a step.
  static tensor::Shape shape(const Flow& flow) {
    return flow.each ? flow.shape().without_first() : flow.shape();
  }

  // Its parameters are not trained; it makes no noise.
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }
  // The layer's name in nodes, where it is not the vertex's.
  void set_part(const std::string& part) { prefix_ = part; }

 private:
  Import* import_;
  const Vertex* vertex_;
  const Json* json_;
  std::vector<Flow> in_;
  bool frozen_ = false;
  std::string main_node_, prefix_;
};

// A class of layers or vertices: what is made of it.
using Make = Flow (*)(Site& site);
struct Class {
  std::string_view name;  // as class_of() has it, without "layer" or "vertex"
  Make make;
};

// A layer, with the noise on its input (dropout).
// Throws Error: kData, it is none that networks here have.
Flow make_layer(Site& site);
Flow make_vertex(Site& site);
// The value behind a preprocessor.
Flow preprocessed(Site& site, const Json& preprocessor, const Flow& value);

// The families, each in its file.
std::vector<Class> dense_classes();
std::vector<Class> convolution_classes();
std::vector<Class> pool_classes();
std::vector<Class> shape_classes();
std::vector<Class> norm_classes();
std::vector<Class> recurrent_classes();
std::vector<Class> output_classes();
std::vector<Class> attention_classes();
std::vector<Class> box_classes();
std::vector<Class> wrapper_classes();
std::vector<Class> vertex_classes();

// An activation function as one of ours, null where it is none; and its nodes.
Json activation_of(const Json& function);
Flow activated(Site& site, const Flow& value, const Json& function,
               const std::string& part);
// A node with the layer's activationFn.
Flow add_activated(Site& site, Json node, const std::vector<Flow>& from);

// The loss of an output layer, whose activation is one of ours.
Aim aim_of(Site& site, const Json& loss, const Json& activation);

// The keys of training of a node of a type that trains so (nn::Trains).
void add_training(const Site& site, const std::string& type, Json& node);
// An updater of DL4J as ours.  Differences are noted.
Json updater_of(const Site& site, const Json& updater);
// How many numbers of state DL4J keeps for a parameter, and which of ours each
// is.
std::vector<int> state_of(const Json& updater);
// The dropout, or other noise, on the input of a layer.
Flow disturbed(Site& site, const Flow& value);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_SITE_H_
