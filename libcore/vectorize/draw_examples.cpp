#include "libcore/vectorize/draw_examples.h"

#include <algorithm>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/data/contact_sheet.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kColumns = 8, kMostDrawn = 8 * kColumns;
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

struct Example {
  std::vector<std::uint8_t> pixels;
  double label = 0;
};

// The class, or the number; "" of examples without one label.
std::string label_text(double label, const std::vector<std::string>& classes) {
  const auto number = static_cast<std::size_t>(label);
  return label >= 0 && number < classes.size() &&
                 label == static_cast<double>(number)
             ? displayed(classes[number])
             : format("%.6g", label);
}

}  // namespace

// So many fit a sheet of that many bytes, but a row in any case.
std::int64_t examples_of_sheet(const tensor::Shape& shape) {
  const std::int64_t rows =
      kMostBytes / (kColumns * std::max<std::int64_t>(shape.elements(), 1));
  return std::clamp(rows * kColumns, kColumns, kMostDrawn);
}

std::string draw_examples(Reader& reader, const std::string& path) {
  std::vector<Example> examples;
  tensor::Shape shape;
  bool labeled = false;
  // To the end, where the names of all classes are known.
  for (data::DataSet set; reader.read(set);) {
    const tensor::Tensor& features = set.get("features");
    shape = features.shape().without_first();
    if (features.dtype() != tensor::DType::kU8 || shape.rank() != 3)
      bad_usage(
          "--preview draws pictures [height, width, channels] of bytes, "
          "and examples are " +
          std::string(tensor::name_of(features.dtype())) + " " +
          shape.to_string());
    const std::int64_t most = examples_of_sheet(shape);
    const tensor::Tensor* labels = set.find("labels");
    labeled = labels != nullptr && labels->elements() == set.examples();
    const auto all = features.as<std::uint8_t>();
    const auto each = static_cast<std::size_t>(shape.elements());
    for (std::int64_t i = 0;
         i < set.examples() && std::cmp_less(examples.size(), most); ++i) {
      const auto own = all.subspan(static_cast<std::size_t>(i) * each, each);
      examples.push_back(
          {{own.begin(), own.end()}, labeled ? labels->value(i) : 0});
    }
  }
  if (examples.empty()) throw Error{Code::kData, "there is no example"};
  const auto count = static_cast<std::int64_t>(examples.size());
  data::ContactSheet sheet(shape, (count + kColumns - 1) / kColumns,
                           std::min(count, kColumns));
  const std::vector<std::string> classes = reader.metadata().classes;
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    const Example& example = examples[static_cast<std::size_t>(i)];
    sheet.put(i / kColumns, i % kColumns, example.pixels);
    if (!labeled) continue;
    text += label_text(example.label, classes);
    text += i % kColumns + 1 == kColumns || i + 1 == count ? "\n" : "\t";
  }
  sheet.write(path);
  return text;
}

}  // namespace dl::vectorize
