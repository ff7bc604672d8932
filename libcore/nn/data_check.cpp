#include "libcore/nn/data_check.h"

#include <utility>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kData, what};
}

data::Metadata without_labels(data::Metadata data) {
  data.schema.erase("labels");
  data.schema.erase("labels_mask");
  data.classes.clear();
  data.targets.clear();
  return data;
}

bool is_byte(tensor::DType dtype) { return tensor::size_of(dtype) == 1; }

}  // namespace

DataCheck::DataCheck(const Model& model)
    : wanted_(wanted_by(model.config, layout_of(model.config))),
      normalizer_(model.normalizer),
      known_(model.data) {}

data::Alignment DataCheck::examine(const data::Metadata& data,
                                   Labels labels) const {
  const bool needed = labels == Labels::kNeeded;
  data::Alignment alignment = data::align(data, known_, needed);
  data::Metadata now = aligned(alignment, data);
  if (!needed) now = without_labels(std::move(now));
  check_metadata(now, wanted_, needed);
  check_normalizer(now, alignment);
  return alignment;
}

void DataCheck::check_normalizer(const data::Metadata& data,
                                 data::Alignment& alignment) const {
  const data::Field& field = data.schema.at("features");
  const std::size_t columns = normalizer_.shift.size();
  const auto has_columns = [&](const tensor::Shape& example) {
    return std::cmp_equal(example.rank() > 0 ? example.back() : 1, columns);
  };
  if (columns > 1 && !has_columns(field.shape) &&
      !has_columns(wanted_.inputs[0].shape))
    refuse("the normalizer has " + std::to_string(columns) +
           " columns, the examples are " + field.shape.to_string());

  const auto trained = known_.schema.find("features");
  if (trained == known_.schema.end() || trained->second.dtype == field.dtype)
    return;
  const std::string difference =
      "features are " + std::string(tensor::name_of(field.dtype)) +
      ", those that the model was trained on " +
      std::string(tensor::name_of(trained->second.dtype));
  if (normalizer_.kind == "scale")
    refuse(difference + ", whose range its normalizer scales to 0..1");
  if (is_byte(field.dtype) != is_byte(trained->second.dtype))
    alignment.note += (alignment.note.empty() ? "" : "; ") + difference;
}

}  // namespace dl::nn
