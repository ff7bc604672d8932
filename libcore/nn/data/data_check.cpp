#include "libcore/nn/data/data_check.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/data/contradiction.h"

namespace dl::nn {
namespace {

bool is_byte(tensor::DType dtype) { return tensor::size_of(dtype) == 1; }

}  // namespace

data::Metadata without_labels(data::Metadata data) {
  std::erase_if(data.schema, [](const auto& field) {
    return field.first.starts_with("labels");
  });
  data.classes.clear();
  data.targets.clear();
  data.label_statistics.reset();
  return data;
}

DataCheck::DataCheck(const Model& model)
    : wanted_(wanted_by(model.config, layout_of(model.config),
                        model.normalizers.inputs)),
      normalizers_(model.normalizers.inputs),
      known_(model.data) {}

data::Alignment DataCheck::examine(const data::Metadata& data,
                                   Labels labels) const {
  const bool needed = labels == Labels::kNeeded && wanted_.labels();
  data::Alignment alignment = data::align(data, known_, needed);
  data::Metadata now = aligned(alignment, data);
  if (!needed) now = without_labels(std::move(now));
  check_metadata(now, wanted_, needed);
  check_parts(now, needed);
  for (std::size_t i = 0; i < wanted_.inputs.size(); ++i)
    check_normalizer(now, i, alignment);
  return alignment;
}

// What has a name of its own is as the model's by now, unless it cannot be.
void DataCheck::check_parts(const data::Metadata& data, bool labels) const {
  for (const std::string& name : known_.names()) {
    data::Metadata now = data.part(name), before = known_.part(name);
    for (data::Metadata* side : {&now, &before}) {
      side->schema.clear();  // check_metadata() looks at it
      if (labels) continue;
      side->classes.clear();
      side->targets.clear();
    }
    const std::string why = data::contradiction(
        before, now, {"what is called '" + name + "'", "the model's"});
    if (!why.empty()) bad_data(why);
  }
}

void DataCheck::check_normalizer(const data::Metadata& data, std::size_t input,
                                 data::Alignment& alignment) const {
  const WantedInput& wanted = wanted_.inputs[input];
  const data::Normalizer& normalizer = normalizers_.at(input);
  const data::Field& field = data.schema.at(wanted.tensor);
  const std::size_t columns = normalizer.shift.size();
  const auto has_columns = [&](const tensor::Shape& example) {
    return std::cmp_equal(example.rank() > 0 ? example.back() : 1, columns);
  };
  if (columns > 1 && !has_columns(field.shape) && !has_columns(wanted.shape))
    bad_data("the normalizer has " + std::to_string(columns) +
             " columns, the examples are " + field.shape.to_string());

  const auto trained = known_.schema.find(wanted.tensor);
  if (trained == known_.schema.end() || trained->second.dtype == field.dtype)
    return;
  const std::string difference =
      wanted.tensor + " are " + std::string(tensor::name_of(field.dtype)) +
      ", those that the model was trained on " +
      std::string(tensor::name_of(trained->second.dtype));
  if (normalizer.kind == "scale")
    bad_data(difference + ", whose range its normalizer scales to 0..1");
  if (is_byte(field.dtype) != is_byte(trained->second.dtype) ||
      trained->second.dtype == tensor::DType::kF64)  // which the others round
    alignment.note += (alignment.note.empty() ? "" : "; ") + difference;
}

}  // namespace dl::nn
