// Lookup of a layer's weights in the layouts of Keras files.

#include "libcore/convert/import/keras/weights.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/snake_case.h"

namespace dl::convert::keras {
namespace {

// Layers are numbered by class, in their order.
std::string place_of(const ModelSpec& model, std::size_t at) {
  const std::string own = snake_case(model.layers[at].class_name);
  std::size_t before = 0;
  for (std::size_t i = 0; i < at; ++i)
    before += snake_case(model.layers[i].class_name) == own ? 1 : 0;
  return before == 0 ? own : own + "_" + std::to_string(before);
}

constexpr const char* kOldLayers =  // of tf.keras 2.12 to 2.15
    "_layer_checkpoint_dependencies/";

}  // namespace

std::vector<Array> LayerWeights::take(const std::string& below,
                                      std::size_t count) {
  std::vector<Array> taken;
  if (legacy_) {
    if (listed_.size() - next_ < count)
      bad_data("the file has " + std::to_string(listed_.size()) +
               " weights of it, not as many as it needs");
    for (std::size_t i = 0; i < count; ++i) taken.push_back(listed_[next_++]);
    return taken;
  }
  std::string base = path_ + (below.empty() ? "" : "/" + below) + "/vars/";
  // tf.keras has the parts of a layer as private ones.
  if (const std::string old = path_ + "/_" + below + "/vars/";
      archive_->arrays.count(base + "0") == 0 &&
      archive_->arrays.count(old + "0") > 0)
    base = old;
  std::size_t& next = taken_[base];
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = archive_->arrays.find(base + std::to_string(next++));
    if (found == archive_->arrays.end())
      bad_data("the file has no weights " +
               in_quotes(base + std::to_string(i)));
    taken.push_back(found->second);
  }
  return taken;
}

void LayerWeights::check_all_taken() const {
  if (legacy_ && next_ < listed_.size())
    bad_data("the file has " + std::to_string(listed_.size()) +
             " weights of it, " + std::to_string(next_) + " are known");
  for (const auto& [base, next] : taken_)
    if (archive_->arrays.count(base + std::to_string(next)) > 0)
      bad_data("the file has more weights of it in " + in_quotes(base) +
               " than are known");
}

Weights::Weights(const Archive& archive, bool keras_1)
    : archive_(&archive), keras_1_(keras_1) {
  const std::string* text = archive.text("attributes");
  attributes_ = text == nullptr
                    ? Json::object()
                    : parse_json(*text, "its attributes", Code::kData);
  for (const char* root : {"model_weights", "/"})
    if (!legacy_ && !names(root, "layer_names").empty()) {
      legacy_ = true;
      root_ = std::string(root) == "/" ? "" : "model_weights/";
    }
}

// h5py cuts a list that is too long for one attribute: weight_names0, 1, ...
std::vector<std::string> Weights::names(const std::string& group,
                                        const std::string& attribute) const {
  std::vector<std::string> all;
  const auto found = attributes_.find(group);
  if (found == attributes_.end()) return all;
  const auto add = [&](const std::string& name) {
    const auto list = found->find(name);
    if (list == found->end() || !list->is_array()) return false;
    for (const Json& one : *list) all.push_back(one.get<std::string>());
    return true;
  };
  if (add(attribute)) return all;
  for (int i = 0; add(attribute + std::to_string(i)); ++i) {
  }
  return all;
}

std::vector<std::string> Weights::layer_names() const {
  return legacy_ ? names(root_.empty() ? "/" : "model_weights", "layer_names")
                 : std::vector<std::string>();
}

bool Weights::has_below(const std::string& base) const {
  const auto next = archive_->arrays.lower_bound(base);
  return next != archive_->arrays.end() && next->first.starts_with(base);
}

LayerWeights Weights::of(const ModelSpec& model,
                         const std::vector<std::size_t>& path) const {
  if (legacy_) return legacy(model, path);
  LayerWeights weights;
  weights.archive_ = archive_;
  const ModelSpec* at = &model;
  for (const std::size_t place : path) {
    const std::string own = place_of(*at, place);
    const bool old = has_below(weights.path_ + kOldLayers);
    weights.path_ += (old ? kOldLayers : "layers/") + own;
    if (at->layers[place].each_step) weights.path_ += "/layer";
    at = at->layers[place].model.get();
    if (at != nullptr) weights.path_ += "/";
  }
  return weights;
}

// Whether a weight of a nested model is of the layer.  Its name has that of the
// layer among its parts, and that of each model between; Keras 1 puts a '_'
// between, and wrappers of it name what they hold.
bool is_of(const LayerSpec& layer, const std::string& weight, bool keras_1) {
  if (!keras_1) {
    return ("/" + weight).find("/" + layer.name + "/") != std::string::npos;
  }
  std::vector<std::string> own = {layer.name};
  const auto held = layer.config.find("layer");
  if (held != layer.config.end() && held->is_object() &&
      held->contains("config") && (*held)["config"].is_object()) {
    const std::string name = (*held)["config"].value("name", "");
    own.insert(own.end(), {name, "forward_" + name, "backward_" + name});
  }
  return std::ranges::any_of(own, [&](const std::string& name) {
    return weight.starts_with(name + "_");
  });
}

// Keras 1 has a model's layers as if they were those of the model around it,
// and models without a name in their place.
std::string Weights::group_of(const std::vector<std::size_t>& path,
                              const std::vector<std::string>& inner) const {
  if (!keras_1_) return root_ + inner[0];
  const auto has = [&](const std::string& group) {
    const auto found = attributes_.find(group);
    return found != attributes_.end() && found->is_object() &&
           found->contains("weight_names");
  };
  for (const std::string& name : {inner[0], inner.back()})
    if (has(root_ + name)) return root_ + name;
  const std::vector<std::string> all = layer_names();
  return root_ + (path[0] < all.size() ? all[path[0]] : inner[0]);
}

LayerWeights Weights::legacy(const ModelSpec& model,
                             const std::vector<std::size_t>& path) const {
  LayerWeights weights;
  weights.legacy_ = true;
  const ModelSpec* at = &model;
  std::vector<std::string> inner;
  const LayerSpec* own = nullptr;
  for (const std::size_t place : path) {
    own = &at->layers[place];
    inner.push_back(own->name);
    at = own->model.get();
  }
  const std::string group = group_of(path, inner);
  const bool all = inner.size() == 1 || group == root_ + inner.back();
  for (const std::string& name : names(group, "weight_names")) {
    if (!all && !is_of(*own, name, keras_1_)) continue;
    const auto found = archive_->arrays.find(group + "/" + name);
    if (found == archive_->arrays.end())
      bad_data("the file has no weights " + in_quotes(group + "/" + name));
    weights.listed_.push_back(found->second);
  }
  return weights;
}

}  // namespace dl::convert::keras
