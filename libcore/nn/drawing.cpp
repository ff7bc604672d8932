// Drawing of a graph in text.

#include "libcore/nn/drawing.h"

#include <algorithm>
#include <optional>

namespace dl::nn {
namespace {

class Drawing {
 public:
  explicit Drawing(const NetworkConfig& config);
  std::vector<std::string> lines() { return std::move(lines_); }

 private:
  void add(Value v, const std::vector<Value>& from);

  std::vector<Value> last_reader_;           // by value; itself: nobody
  std::vector<std::optional<Value>> lanes_;  // the value that each has
  std::vector<std::string> lines_;
};

Drawing::Drawing(const NetworkConfig& config) {
  const std::size_t inputs = config.inputs.size();
  for (Value v = 0; v < config.value_of(config.layers.size()); ++v)
    last_reader_.push_back(v);
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    for (const Value v : config.layers[i].from)
      last_reader_[v] = config.value_of(i);
  for (Value v = 0; v < inputs; ++v) add(v, {});
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    add(config.value_of(i), config.layers[i].from);
  for (std::string& line : lines_) line.resize(lanes_.size(), ' ');
}

void Drawing::add(Value v, const std::vector<Value>& from) {
  std::string line;
  for (const auto& lane : lanes_) line += lane ? '|' : ' ';
  std::size_t own = lanes_.size();
  for (std::size_t i = lanes_.size(); i-- > 0;) {
    const bool ends = lanes_[i] && std::ranges::count(from, *lanes_[i]) > 0 &&
                      last_reader_[*lanes_[i]] == v;
    if (ends) {
      lanes_[i].reset();
      line[i] = '/';
    }
    if (!lanes_[i]) own = i;
  }
  if (own == lanes_.size()) {
    lanes_.emplace_back();
    line += ' ';
  }
  line[own] = '*';
  if (last_reader_[v] != v) lanes_[own] = v;
  lines_.push_back(std::move(line));
}

}  // namespace

std::vector<std::string> draw(const NetworkConfig& config) {
  return Drawing(config).lines();
}

}  // namespace dl::nn
