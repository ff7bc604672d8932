#include "libcore/nn/prediction_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/names.h"
#include "libcore/nn/predictor.h"

namespace dl::nn {
namespace {

template <typename Number>
void append(std::string& text, Number number) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end.ptr);
}

// The text of row i, without the NULs that pad it.
std::string id_of(const tensor::Tensor& ids, std::int64_t i) {
  const auto width = static_cast<std::size_t>(ids.shape()[1]);
  const auto row = ids.as<std::uint8_t>().subspan(
      static_cast<std::size_t>(i) * width, width);
  return {row.begin(), std::ranges::find(row, std::uint8_t{0})};
}

}  // namespace

void check_finite(const tensor::Tensor& outputs, std::int64_t first) {
  const std::span<const float> values = outputs.as<float>();
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](float y) { return !std::isfinite(y); });
  if (bad == values.end()) return;
  throw Error{Code::kData, "the model's output for example " +
                               std::to_string(first + (bad - values.begin()) *
                                                          outputs.shape()[0] /
                                                          outputs.elements()) +
                               " is not finite"};
}

PredictionLines::PredictionLines(const Model& model, std::int64_t top)
    : units_(output_of(model.config).units), top_(top) {
  const tensor::Activation last = output_of(model.config).activation.kind;
  std::vector<std::string> names = output_names(model.data);
  const bool pair = units_ == 1 && last == tensor::Activation::kSigmoid &&
                    model.data.classes.size() == 2;
  names_class_ = pair || last == tensor::Activation::kSoftmax;
  const std::int64_t classes = pair ? 2 : units_;
  if (top < 1 || top > classes || (top > 1 && !names_class_))
    throw Error{Code::kUsage,
                names_class_ ? "--top: want 1.." + std::to_string(classes) +
                                   ", got " + std::to_string(top)
                             : "--top: this model names no classes"};
  // A single value for two classes says how much it is the second, as a
  // probability does.
  if (!names_class_ && units_ == 1 && model.data.classes.size() == 2)
    names.erase(names.begin());
  const auto named = static_cast<std::int64_t>(names.size());
  for (std::int64_t j = 0; j < classes && (names_class_ || named > 0); ++j)
    names_.push_back(dump_json(output_name(names, j)));
}

void PredictionLines::append_class(std::string& line, const float* row) const {
  const float pair[] = {1 - row[0], row[0]};
  const float* p = units_ == 1 && names_.size() == 2 ? pair : row;
  const auto classes = static_cast<std::int64_t>(names_.size());
  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  // Equals in the order of classes; a tie of two is the second's, since 0.5
  // reaches the threshold.
  const bool second = p == pair;
  std::partial_sort(order.begin(), order.begin() + top_, order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      if (p[a] != p[b]) return p[a] > p[b];
                      return second ? a > b : a < b;
                    });
  const auto append_one = [&](std::int64_t j) {
    line += "\"class\":" + names_[static_cast<std::size_t>(j)] +
            ",\"probability\":";
    append(line, p[j]);
  };
  append_one(order[0]);
  if (top_ == 1) return;
  line += ",\"top\":[";
  for (std::int64_t k = 0; k < top_; ++k) {
    line += k == 0 ? "{" : ",{";
    append_one(order[static_cast<std::size_t>(k)]);
    line += '}';
  }
  line += ']';
}

void PredictionLines::append_outputs(std::string& line,
                                     const float* row) const {
  line += names_.empty() ? "\"outputs\":[" : "\"outputs\":{";
  for (std::int64_t j = 0; j < units_; ++j) {
    if (j > 0) line += ',';
    if (!names_.empty()) line += names_[static_cast<std::size_t>(j)] + ':';
    append(line, row[j]);
  }
  line += names_.empty() ? ']' : '}';
}

void PredictionLines::append_row(std::string& line, const float* row) const {
  if (names_class_)
    append_class(line, row);
  else
    append_outputs(line, row);
}

std::string PredictionLines::lines(const tensor::Tensor& outputs,
                                   std::int64_t first,
                                   const LineTensors& of) const {
  check_finite(outputs, first);
  std::string text;
  const float* row = outputs.as<float>().data();
  const bool sequences = outputs.shape().rank() == 3;
  const std::int64_t steps = sequences ? outputs.shape()[1] : 1;
  for (std::int64_t i = 0; i < outputs.shape()[0]; ++i) {
    text += "{\"index\":";
    append(text, of.index != nullptr
                     ? of.index->as<std::int64_t>()[static_cast<std::size_t>(i)]
                     : first + i);
    if (of.id != nullptr) text += ",\"id\":" + dump_json(id_of(*of.id, i));
    text += sequences ? ",\"steps\":[" : ",";
    for (std::int64_t t = 0; t < steps; ++t, row += units_) {
      if (t > 0) text += ',';
      if (of.mask != nullptr && sequences &&
          of.mask->value(i * steps + t) == 0) {
        text += "null";
        continue;
      }
      if (sequences) text += '{';
      append_row(text, row);
      if (sequences) text += '}';
    }
    text += sequences ? "]}\n" : "}\n";
  }
  return text;
}

}  // namespace dl::nn
