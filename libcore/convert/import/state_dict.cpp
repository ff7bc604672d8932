// Filling of a network with the tensors of a state dict.

#include "libcore/convert/import/state_dict.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/empty_model.h"
#include "libcore/convert/import/file.h"
#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/io/safetensors.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

int type_of(const std::string& dtype) {
  using onnx::ElementType;
  if (dtype == "F32") return static_cast<int>(ElementType::kFloat);
  if (dtype == "F16") return static_cast<int>(ElementType::kHalf);
  if (dtype == "BF16") return static_cast<int>(ElementType::kBrain);
  if (dtype == "F64") return static_cast<int>(ElementType::kDouble);
  return 0;
}

std::string shown(const Sizes& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

std::string type_name(const nn::NetworkConfig& config,
                      const nn::Segment& segment) {
  return std::string(config.layers[segment.layer].type->name);
}

// Image that was flattened before a layer.
tensor::Shape image_before(const nn::NetworkConfig& config,
                           const nn::Layout& layout, std::size_t layer) {
  const nn::ValueSpec* form = &layout.layers[layer].inputs.at(0);
  nn::Value value = config.layers[layer].from.at(0);
  while (form->shape.rank() < 3 && value >= config.inputs.size()) {
    const std::size_t before = value - config.inputs.size();
    const auto type = config.layers[before].type->name;
    if (type != "flatten" && type != "dropout") return {};
    form = &layout.layers[before].inputs.at(0);
    value = config.layers[before].from.at(0);
  }
  const bool series = form->shape.rank() == 2 &&
                      layout.layers[layer].inputs.at(0).shape.rank() == 1;
  return form->shape.rank() >= 3 || series ? form->shape : tensor::Shape();
}

// One tensor of the map.
class Maker {
 public:
  Maker(const StateDict& state, const std::string& name, const Json& entry)
      : state_(state), name_(in_quotes(name)), entry_(entry) {}

  void put(const StateOrder& usual, const tensor::Shape& shape,
           std::span<float> to) const;

 private:
  void want_known_keys() const;
  StateTensor source() const;
  StateTensor rows_of(StateTensor from) const;
  StateTensor found(const Json& name) const;

  const StateDict& state_;
  std::string name_;
  const Json& entry_;
};

StateTensor Maker::found(const Json& name) const {
  if (!name.is_string())
    bad_config("the map has for " + name_ +
               " other than a name: " + displayed(dump_json(name)));
  const std::string own = name.get<std::string>();
  const auto one = state_.tensors.find(own);
  if (one == state_.tensors.end()) {
    const auto other = state_.others.find(own);
    bad_config("the map has for " + name_ + " the tensor " + in_quotes(own) +
               (other == state_.others.end()
                    ? ", which the file has not"
                    : ", which is of the type " + in_quotes(other->second) +
                          "; one of reals would be needed"));
  }
  return one->second;
}

StateTensor Maker::source() const {
  const Json& from =
      entry_.is_object() && entry_.contains("from") ? entry_["from"] : entry_;
  if (!from.is_array()) return found(from);
  if (from.empty()) bad_config("the map has nothing for " + name_);
  StateTensor sum = found(from[0]);
  for (std::size_t i = 1; i < from.size(); ++i) {
    const StateTensor other = found(from[i]);
    if (other.shape != sum.shape)
      bad_config("the map adds tensors of different shapes for " + name_);
    for (std::size_t k = 0; k < sum.values.size(); ++k)
      sum.values[k] += other.values[k];
  }
  return sum;
}

StateTensor Maker::rows_of(StateTensor from) const {
  if (!entry_.is_object() || !entry_.contains("rows")) return from;
  const Sizes rows = JsonView(entry_, Code::kConfig, "the map: " + name_)
                         .at("rows")
                         .integers(0, std::int64_t{1} << 40);
  if (rows.size() != 2 || from.shape.empty() || rows[0] >= rows[1] ||
      rows[1] > from.shape[0])
    bad_config("the map has rows for " + name_ + " that its tensor lacks");
  const auto each =
      static_cast<std::int64_t>(from.values.size()) / from.shape[0];
  from.values.erase(from.values.begin() + rows[1] * each, from.values.end());
  from.values.erase(from.values.begin(), from.values.begin() + rows[0] * each);
  from.shape[0] = rows[1] - rows[0];
  return from;
}

// axis i of the result is axis order[i].
std::vector<float> permuted(const StateTensor& from,
                            const std::vector<int>& order) {
  const std::size_t rank = order.size();
  Sizes steps(rank, 1), step(rank), extent(rank), at(rank, 0);
  for (std::size_t k = rank; k-- > 1;) steps[k - 1] = steps[k] * from.shape[k];
  for (std::size_t k = 0; k < rank; ++k) {
    step[k] = steps[static_cast<std::size_t>(order[k])];
    extent[k] = from.shape[static_cast<std::size_t>(order[k])];
  }
  std::vector<float> to(from.values.size());
  std::int64_t place = 0;
  for (float& value : to) {
    value = from.values[static_cast<std::size_t>(place)];
    for (std::size_t k = rank; k-- > 0;) {
      place += step[k];
      if (++at[k] < extent[k]) break;
      place -= step[k] * extent[k];
      at[k] = 0;
    }
  }
  return to;
}

// [units, c h w] as [units, h w c].
std::vector<float> columns_moved(const std::vector<float>& from,
                                 const tensor::Shape& image) {
  const auto channels = static_cast<std::size_t>(image.back());
  const auto columns = static_cast<std::size_t>(image.elements());
  const std::size_t places = columns / channels;
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t row = i / columns, at = i % columns;
    to[i] = from[row * columns + at % channels * places + at / channels];
  }
  return to;
}

// A key that is spelt otherwise would be as if it were not there.
void Maker::want_known_keys() const {
  if (!entry_.is_object()) return;
  for (const auto& [key, value] : entry_.items())
    if (key != "from" && key != "rows" && key != "order")
      bad_config("the map has for " + name_ + " the key " + in_quotes(key) +
                 "; want from, rows or order");
}

void Maker::put(const StateOrder& usual, const tensor::Shape& shape,
                std::span<float> to) const {
  want_known_keys();
  const StateTensor from = rows_of(source());
  if (entry_.is_object() && entry_.contains("order")) {
    std::vector<int> order;
    Sizes extents;
    for (const std::int64_t axis :
         JsonView(entry_, Code::kConfig, "the map: " + name_)
             .at("order")
             .integers(0, 7))
      order.push_back(static_cast<int>(axis));
    for (const int axis : order)
      extents.push_back(static_cast<std::size_t>(axis) < from.shape.size()
                            ? from.shape[static_cast<std::size_t>(axis)]
                            : 0);
    std::vector<int> sorted = order, all(from.shape.size());
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all || from.values.size() != to.size())
      bad_config("the map's order for " + name_ + " gives " + shown(extents) +
                 " of its tensor " + shown(from.shape) + "; " +
                 shape.to_string() + " is wanted");
    std::ranges::copy(permuted(from, order), to.begin());
    return;
  }
  if (from.shape != usual.shape &&
      !(usual.order.size() == 1 && from.values.size() == to.size()))
    bad_config("the map has for " + name_ + " a tensor " + shown(from.shape) +
               "; one of " + shown(usual.shape) +
               " is wanted, or an \"order\" of its axes");
  std::vector<float> values =
      usual.order.size() > 1 ? permuted(from, usual.order) : from.values;
  if (usual.image.rank() > 0) values = columns_moved(values, usual.image);
  const std::size_t block =
      usual.blocks.empty() ? 0 : values.size() / usual.blocks.size();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] =
        usual.blocks.empty()
            ? values[i]
            : values[static_cast<std::size_t>(usual.blocks[i / block]) * block +
                     i % block];
}

}  // namespace

StateOrder state_order(const nn::NetworkConfig& config,
                       const nn::Layout& layout, const nn::Segment& segment) {
  const auto extents = segment.shape.extents();
  StateOrder order{.shape = {extents.begin(), extents.end()}, .order = {}};
  order.order.resize(extents.size());
  std::iota(order.order.begin(), order.order.end(), 0);
  const std::string type = type_name(config, segment);
  const std::string tensor = segment.name.substr(segment.name.rfind('/') + 1);
  if (type == "gru" && tensor.find("bias") == std::string::npos)
    order.blocks = {1, 0, 2};  // r, z, n there
  if (!tensor.ends_with("weight")) return order;
  const std::size_t rank = extents.size();
  if (type == "conv2d_transpose") {
    order.shape = {extents[3], extents[0], extents[1], extents[2]};
    order.order = {1, 2, 3, 0};
  } else if (rank > 2 && type.find("conv") != std::string::npos) {
    order.shape.insert(order.shape.begin() + 1, order.shape.back());
    order.shape.pop_back();
    for (std::size_t k = 1; k < rank; ++k)
      order.order[k] = k + 1 < rank ? static_cast<int>(k) + 1 : 1;
  } else if (type == "dense" || type == "output" || type == "center_loss") {
    order.image = image_before(config, layout, segment.layer);
    if (order.image.elements() != extents[1]) order.image = {};
  }
  return order;
}

StateDict read_state_dict(const std::string& spec) {
  const Bytes bytes = read_file(spec);
  StateDict state;
  try {
    const auto all = bytes.all();
    const io::SafetensorsHeader header = io::parse_safetensors(all);
    for (const io::TensorEntry& entry : header.tensors) {
      const int type = type_of(entry.dtype);
      if (type == 0) {
        state.others[entry.name] = entry.dtype;
        continue;
      }
      const auto own = all.subspan(header.data_offset + entry.begin,
                                   entry.end - entry.begin);
      state.tensors[entry.name] = {entry.shape, onnx::reals_in(type, own)};
    }
  } catch (Error& e) {
    e.add_context(bytes.name);
    throw;
  }
  return state;
}

nn::Model mapped_model(nn::NetworkConfig config, const StateDict& state,
                       const Json& map) {
  const nn::Layout layout = nn::layout_of(config);
  nn::Model model = empty_model(std::move(config), layout);
  if (!map.is_object()) bad_config("the map is no object of names");
  std::size_t used = 0;
  const auto fill = [&](const std::vector<nn::Segment>& segments,
                        std::vector<float>& to) {
    for (const nn::Segment& segment : segments) {
      if (!map.contains(segment.name) || map[segment.name].is_null())
        bad_config("the map has nothing for " + in_quotes(segment.name) + ", " +
                   segment.shape.to_string());
      ++used;
      const std::string type = type_name(model.config, segment);
      StateOrder usual = state_order(model.config, layout, segment);
      const auto own =
          std::span(to).subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements()));
      const Json& entry = map[segment.name];
      // The two biases of a gru are one but for those of n.
      if (type == "gru" && segment.name.ends_with("bias") && entry.is_array() &&
          entry.size() == 2) {
        const std::size_t units = own.size() / 4;
        StateOrder half{.shape = {static_cast<std::int64_t>(3 * units)},
                        .order = {0},
                        .blocks = {1, 0, 2}};
        std::vector<float> in(3 * units), hidden(3 * units);
        const Maker of_in(state, segment.name, entry[0]),
            of_hidden(state, segment.name, entry[1]);
        of_in.put(half, segment.shape, in);
        of_hidden.put(half, segment.shape, hidden);
        for (std::size_t i = 0; i < 3 * units; ++i)
          own[i] = in[i] + (i < 2 * units ? hidden[i] : 0);
        std::ranges::copy(std::span(hidden).subspan(2 * units),
                          own.subspan(3 * units).begin());
        continue;
      }
      Maker(state, segment.name, entry).put(usual, segment.shape, own);
    }
  };
  fill(layout.parameters, model.parameters);
  fill(layout.statistics, model.statistics);
  if (used != map.size())
    for (const auto& [name, entry] : map.items()) {
      const auto called = [&, &own = name](const nn::Segment& s) {
        return s.name == own;
      };
      if (std::ranges::none_of(layout.parameters, called) &&
          std::ranges::none_of(layout.statistics, called))
        bad_config("the map has " + in_quotes(name) +
                   ", which is no tensor of the network");
    }
  return model;
}

std::string unused_note(const StateDict& state, const Json& map) {
  std::set<std::string> used;
  const auto add = [&used](const Json& names, const auto& self) -> void {
    if (names.is_string()) used.insert(names.get<std::string>());
    if (names.is_object() && names.contains("from")) self(names["from"], self);
    if (names.is_array())
      for (const Json& one : names) self(one, self);
  };
  for (const auto& [name, entry] : map.items()) add(entry, add);
  constexpr std::size_t kShown = 5;
  std::string shown;
  std::size_t count = 0;
  for (const auto& [name, tensor] : state.tensors) {
    if (used.count(name) > 0) continue;
    if (++count <= kShown) shown += (count > 1 ? ", " : "") + in_quotes(name);
  }
  if (count == 0) return {};
  return "not used of the state dict: " + shown +
         (count > kShown ? ", and " + std::to_string(count - kShown) + " more"
                         : std::string());
}

}  // namespace dl::convert
