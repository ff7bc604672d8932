// Checks that data fit a model.

#include "libcore/nn/data/data_check.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/sharding/contradiction.h"

namespace dl::nn {
namespace {

bool is_number_below(const std::string& name, std::int64_t count) {
  std::int64_t number = -1;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number >= 0 && number < count && std::to_string(number) == name;
}

std::vector<std::string> numbers_below(std::int64_t count) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// known: of a model that has learnt; the names of its classes are numbers where
// those of the data are.
data::Metadata with_numbers(data::Metadata known, const Wanted& wanted,
                            const data::Metadata& data) {
  for (const WantedOutput& output : wanted.outputs) {
    const std::string& part = output.part;
    const auto& classes = data::about(data, part).classes;
    if (!data::about(known, part).classes.empty() || classes.empty()) continue;
    const std::int64_t count = std::max<std::int64_t>(output.units, 2);
    if (std::ranges::all_of(classes, [&](const std::string& name) {
          return is_number_below(name, count);
        }))
      (part.empty() ? known : known.parts[part]).classes = numbers_below(count);
  }
  return known;
}

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

data::Metadata known_by(const Model& model, Outputs outputs,
                        const data::Metadata& data) {
  if (outputs == Outputs::kNew) return model.data;
  return with_numbers(model.data,
                      wanted_by(model.config, layout_of(model.config)), data);
}

DataCheck::DataCheck(const Model& model, Outputs outputs)
    : wanted_(wanted_by(model.config, layout_of(model.config),
                        model.normalizers.inputs)),
      normalizers_(model.normalizers.inputs),
      outputs_(outputs),
      known_(model.data) {}

data::Metadata DataCheck::known(const data::Metadata& data) const {
  return outputs_ == Outputs::kNew ? known_
                                   : with_numbers(known_, wanted_, data);
}

data::Metadata DataCheck::aligned(const data::Alignment& alignment,
                                  const data::Metadata& data) const {
  return alignment.apply(data, known(data));
}

data::Alignment DataCheck::examine(const data::Metadata& data,
                                   Labels labels) const {
  const bool needed = labels == Labels::kNeeded && wanted_.labels();
  data::Alignment alignment = data::align(data, known(data), needed);
  if (needed) data::add_note(alignment.note, doubt(data));
  // The examples look alike, but mean something else.
  data::add_note(alignment.note,
                 data::difference_of_recipes(known_.recipe, data.recipe,
                                             {"it", "the model's data"}));
  data::Metadata now = aligned(alignment, data);
  if (!needed) now = without_labels(std::move(now));
  check_metadata(now, wanted_, needed);
  check_parts(now, needed);
  for (std::size_t i = 0; i < wanted_.inputs.size(); ++i)
    check_normalizer(now, i, alignment);
  return alignment;
}

// Nobody knows whether these words mean the model's classes in this order.
std::string DataCheck::doubt(const data::Metadata& data) const {
  if (outputs_ == Outputs::kNew) return "";
  const data::Metadata model = known(data);
  for (const WantedOutput& output : wanted_.outputs) {
    const auto& classes = data::about(data, output.part).classes;
    const bool saw_labels =  // an import says nothing of its data
        known_.provenance.empty() || known_.schema.contains(output.tensor);
    if (!saw_labels || classes.empty() ||
        !data::about(model, output.part).classes.empty())
      continue;
    return "the model has no names for its classes, so they are taken in the "
           "order of the data, from " +
           in_quotes(classes.front()) + " to " + in_quotes(classes.back()) +
           "; dl-import --classes names them";
  }
  return "";
}

// Parts with names of their own have the model's names by now, except where
// impossible.
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
        before, now,
        {"what is called '" + displayed(name) + "'", "the model's"});
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
    data::add_note(alignment.note, difference);
}

}  // namespace dl::nn
