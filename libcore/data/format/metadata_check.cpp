// Checks that a record holds what its metadata say.

#include <algorithm>
#include <cmath>
#include <string>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/sharding/contradiction.h"

namespace dl::data {
namespace {

bool is_mask(const std::string& name) {
  const std::string kind = name.substr(0, name.find('/'));
  return kind == "features_mask" || kind == "labels_mask";
}

void check_classes(const std::string& name, const tensor::Tensor& labels,
                   std::size_t classes) {
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto values = labels.as<T>();
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0 || static_cast<std::size_t>(values[i]) >= classes)
          bad_data("example " + std::to_string(i) + ": '" + displayed(name) +
                   "' is " + std::to_string(values[i]) + ", want 0.." +
                   std::to_string(classes - 1));
    }
  });
}

// They say whether, or how much, a value counts.
void check_mask(const std::string& name, const tensor::Tensor& mask) {
  tensor::visit_dtype(mask.dtype(), [&]<typename T>() {
    const auto values = mask.as<T>();
    const auto wrong = std::ranges::find_if(values, [](T value) {
      return value < 0 || !std::isfinite(static_cast<double>(value));
    });
    if (wrong == values.end()) return;
    const auto each = mask.elements() / mask.shape()[0];
    bad_data("example " + std::to_string((wrong - values.begin()) / each) +
             ": " + in_quotes(name) + " has " + std::to_string(*wrong) +
             ", want 0 or more");
  });
}

// A mask is of the steps of what it masks.  (Rows of numbers may be sequences
// that a network unfolds.)
void check_steps(const DataSet& set, const std::string& name,
                 const tensor::Tensor& mask) {
  const std::string masked =
      "features" + name.substr(sizeof "features_mask" - 1);
  const tensor::Tensor* features = set.find(masked);
  if (features == nullptr || features->shape().rank() < 3 ||
      mask.shape().rank() < 2 || mask.shape()[1] == features->shape()[1])
    return;
  bad_data("tensor " + in_quotes(name) + " has " +
           std::to_string(mask.shape()[1]) + " steps an example, " +
           in_quotes(masked) + " has " + std::to_string(features->shape()[1]));
}

}  // namespace

void Metadata::check(const DataSet& set) const {
  if (!has_encoded(schema)) return check_plain(set, schema);
  for (const auto& [name, field] : encoded_part(schema)) {
    if (field.encoding == Encoding::kWindow) continue;
    const auto stored = set.encoded.find(name);
    require(stored != set.encoded.end(), "an encoded tensor that is none");
    if (stored->second.examples() != set.examples())
      bad_data("tensor " + in_quotes(name) + " has " +
               std::to_string(stored->second.examples()) +
               " encoded examples, want " + std::to_string(set.examples()));
  }
  check_plain(set, plain_schema(schema));
}

// plain: the schema of decoded examples.
void Metadata::check_plain(const DataSet& set,
                           const std::map<std::string, Field>& plain) const {
  set.check();
  for (const auto& [name, field] : plain) {
    const tensor::Tensor* t = set.find(name);
    // Not decoded, or what would follow from it.
    if (!t && (set.encoded.contains(name) || set.views.contains(name) ||
               !schema.contains(name)))
      continue;
    if (!t) bad_data("tensor " + in_quotes(name) + " is missing");
    const Field found{t->dtype(), t->shape().without_first()};
    if (!(found == field))
      bad_data("tensor " + in_quotes(name) + " is " + describe(found) +
               " an example, but the schema says " + describe(field));
    if (is_mask(name)) {
      check_mask(name, *t);
      if (name.starts_with("features_mask")) check_steps(set, name, *t);
    } else if (name == "labels" && !classes.empty()) {
      check_classes(name, *t, classes.size());
    } else if (name.starts_with("labels/")) {
      if (const auto said = parts.find(name.substr(sizeof "labels"));
          said != parts.end() && !said->second.classes.empty())
        check_classes(name, *t, said->second.classes.size());
    }
  }
  for (const auto& [name, t] : set.tensors)
    if (!plain.contains(name))
      bad_data("tensor " + in_quotes(name) + " is not in the schema");
}

}  // namespace dl::data
