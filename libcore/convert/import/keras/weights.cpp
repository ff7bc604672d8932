#include "libcore/convert/import/keras/weights.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::keras {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error{Code::kData, what};
}

bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }

// As Keras has it: "SeparableConv2D" is "separable_conv2d", "PReLU" "p_re_lu".
// First a '_' goes before each capital that small letters follow, unless it is
// the first of what is looked at; then between a small letter and a capital.
std::string snake_case(const std::string& name) {
  std::string words;
  for (std::size_t i = 0; i < name.size();) {
    words += name[i++];
    if (i + 1 >= name.size() || !upper(name[i]) || !lower(name[i + 1]))
      continue;
    words += '_';
    words += name[i++];
    while (i < name.size() && lower(name[i])) words += name[i++];
  }
  std::string snake;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && lower(words[i - 1]) && upper(words[i])) snake += '_';
    snake +=
        upper(words[i]) ? static_cast<char>(words[i] - 'A' + 'a') : words[i];
  }
  return snake;
}

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

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

std::vector<Array> LayerWeights::take(const std::string& below,
                                      std::size_t count) {
  std::vector<Array> taken;
  if (legacy_) {
    if (listed_.size() - next_ < count)
      damaged("the file has " + std::to_string(listed_.size()) +
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
      damaged("the file has no weights " + in_quotes(base + std::to_string(i)));
    taken.push_back(found->second);
  }
  return taken;
}

void LayerWeights::check_all_taken() const {
  if (legacy_ && next_ < listed_.size())
    damaged("the file has " + std::to_string(listed_.size()) +
            " weights of it, " + std::to_string(next_) + " are known");
  for (const auto& [base, next] : taken_)
    if (archive_->arrays.count(base + std::to_string(next)) > 0)
      damaged("the file has more weights of it in " + in_quotes(base) +
              " than are known");
}

Weights::Weights(const Archive& archive) : archive_(&archive) {
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
    at = at->layers[place].model.get();
    if (at != nullptr) weights.path_ += "/";
  }
  return weights;
}

// In the list of a nested model, the name of a weight has that of its layer
// among its parts, and that of each model between.
LayerWeights Weights::legacy(const ModelSpec& model,
                             const std::vector<std::size_t>& path) const {
  LayerWeights weights;
  weights.legacy_ = true;
  const ModelSpec* at = &model;
  std::vector<std::string> inner;
  for (const std::size_t place : path) {
    inner.push_back(at->layers[place].name);
    at = at->layers[place].model.get();
  }
  const std::string group = root_ + inner[0];
  const std::string own = inner.back();
  for (const std::string& name : names(group, "weight_names")) {
    if (inner.size() > 1) {
      const auto parts = parts_of(name);
      if (std::find(parts.begin(), parts.end() - 1, own) == parts.end() - 1)
        continue;
    }
    const auto found = archive_->arrays.find(group + "/" + name);
    if (found == archive_->arrays.end())
      damaged("the file has no weights " + in_quotes(group + "/" + name));
    weights.listed_.push_back(found->second);
  }
  return weights;
}

}  // namespace dl::convert::keras
