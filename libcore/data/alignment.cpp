#include "libcore/data/alignment.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {
namespace {

using Names = std::vector<std::string>;
using Places = std::vector<std::int64_t>;

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kData, what};
}

// "'a', 'b', 'c', ..."
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + in_quotes(names[i]);
  return names.size() > kMost ? text + ", ..." : text;
}

// what: what has the names, "columns".
std::map<std::string, std::int64_t> numbered(const Names& names,
                                             const std::string& what) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& name : names)
    if (!numbers.emplace(name, static_cast<std::int64_t>(numbers.size()))
             .second)
      refuse("two " + what + " are called " + in_quotes(name) +
             ", so they cannot be matched by name");
  return numbers;
}

bool as_wanted(const Names& own, const Names& wanted) {
  return own.empty() || wanted.empty() || own == wanted;
}

// The places of the wanted names.
Places places_of(const Names& own, const Names& wanted,
                 const std::string& what) {
  const auto numbers = numbered(own, what);
  numbered(wanted, what);
  Places places;
  for (const std::string& name : wanted) {
    const auto found = numbers.find(name);
    if (found == numbers.end())
      refuse("there is no " + in_quotes(name) + " among the " + what + ": " +
             listed(own));
    places.push_back(found->second);
  }
  return places;
}

void add_note(Alignment& result, const std::string& note) {
  result.note += (result.note.empty() ? "" : "; ") + note;
}

void note_columns(const Names& own, const Names& wanted, Alignment& result) {
  Names more;
  for (const std::string& name : own)
    if (std::ranges::find(wanted, name) == wanted.end()) more.push_back(name);
  if (!more.empty())
    add_note(result,
             "columns that are not wanted are left out: " + listed(more));
  if (!std::ranges::is_sorted(result.columns))
    add_note(result, "columns in another order are put right by name");
}

// The shape of one example of a tensor, null where there is none.
const Field* field_of(const Metadata& metadata, const char* name) {
  const auto found = metadata.schema.find(name);
  return found == metadata.schema.end() ? nullptr : &found->second;
}

void check_width(const Field& field, const Names& names, const char* tensor) {
  const std::int64_t width = field.shape.rank() > 0 ? field.shape.back() : 1;
  if (std::cmp_not_equal(width, names.size()))
    refuse("'" + std::string(tensor) + "' has " + std::to_string(width) +
           " columns, but there are " + std::to_string(names.size()) +
           " names of them");
}

// Whether labels are numbers of classes, rather than a value for each.
bool are_numbers(const Field& labels, const Names& classes) {
  return !tensor::is_real(labels.dtype) || labels.shape.rank() == 0 ||
         std::cmp_not_equal(labels.shape.back(), classes.size());
}

void align_classes(const Metadata& data, const Metadata& wanted,
                   const Field& labels, Alignment& result) {
  // The first ones of more is right as well.
  if (data.classes.size() <= wanted.classes.size() &&
      std::equal(data.classes.begin(), data.classes.end(),
                 wanted.classes.begin()))
    return;
  if (!are_numbers(labels, data.classes)) {
    if (data.classes.size() != wanted.classes.size())
      refuse("labels have a value for each of " +
             std::to_string(data.classes.size()) + " classes, not for " +
             std::to_string(wanted.classes.size()));
    result.targets = places_of(data.classes, wanted.classes, "classes");
    add_note(result, "classes in another order are put right by name");
    return;
  }
  const auto numbers = numbered(wanted.classes, "classes");
  numbered(data.classes, "classes");
  for (std::size_t i = 0; i < data.classes.size(); ++i) {
    const auto found = numbers.find(data.classes[i]);
    if (found == numbers.end())
      refuse("its class " + std::to_string(i) + " is " +
             in_quotes(data.classes[i]) + ", which is none of " +
             listed(wanted.classes) + "; preprocess it with --classes");
    result.classes.push_back(found->second);
  }
  add_note(result, "classes in another order are put right by name");
}

template <typename T>
void renumber(std::span<T> labels, const Places& classes) {
  for (T& label : labels) {
    if (std::cmp_less(label, 0) ||
        std::cmp_greater_equal(label, classes.size()))
      refuse("'labels' has " + std::to_string(label) + ", want 0.." +
             std::to_string(classes.size() - 1));
    const std::int64_t now = classes[static_cast<std::size_t>(label)];
    if (!std::in_range<T>(now))
      refuse("class " + std::to_string(now) + " does not fit labels of type " +
             std::string(tensor::name_of(tensor::dtype_of<T>())));
    label = static_cast<T>(now);
  }
}

void renumber(tensor::Tensor& labels, const Places& classes) {
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>)
      renumber(labels.as<T>(), classes);
    else
      refuse("labels are no class numbers");
  });
}

// Takes the columns at these places of the last dimension.
void take_columns(tensor::Tensor& tensor, const Places& places) {
  const tensor::Shape& shape = tensor.shape();
  const std::int64_t width = shape.rank() > 1 ? shape.back() : 0;
  for (const std::int64_t place : places)
    if (place >= width) refuse("an example has too few columns");
  std::vector<std::int64_t> extents(shape.extents().begin(),
                                    shape.extents().end());
  extents.back() = static_cast<std::int64_t>(places.size());
  tensor::Tensor taken(tensor.dtype(), tensor::Shape(std::span(extents)));
  const std::size_t size = tensor::size_of(tensor.dtype());
  std::byte* to = taken.bytes().data();
  const std::byte* row = tensor.bytes().data();
  for (std::int64_t i = 0; i < shape.elements() / width; ++i) {
    for (const std::int64_t place : places) {
      std::memcpy(to, row + static_cast<std::size_t>(place) * size, size);
      to += size;
    }
    row += static_cast<std::size_t>(width) * size;
  }
  tensor = std::move(taken);
}

void take(std::vector<double>& values, const Places& places) {
  std::vector<double> taken;
  for (const std::int64_t place : places)
    taken.push_back(values.at(static_cast<std::size_t>(place)));
  values = std::move(taken);
}

// width: how many columns there are; statistics of others are of no use.
void take(std::optional<Statistics>& statistics, std::int64_t width,
          const Places& places) {
  if (!statistics) return;
  // Sets that were joined are columns of the same data.
  std::vector<Statistics*> all = {&*statistics};
  for (Statistics& part : statistics->joined) all.push_back(&part);
  for (Statistics* each : all) {
    if (std::cmp_not_equal(each->mean.size(), width)) return statistics.reset();
    for (auto* values : {&each->mean, &each->m2, &each->min, &each->max})
      take(*values, places);
  }
}

void take(Field& field, const Places& places) {
  std::vector<std::int64_t> extents(field.shape.extents().begin(),
                                    field.shape.extents().end());
  extents.back() = static_cast<std::int64_t>(places.size());
  field.shape = tensor::Shape(std::span(extents));
}

}  // namespace

void Alignment::apply(DataSet& set) const {
  const auto change = [&](const char* name, const Places& places,
                          const auto& by) {
    const auto found = set.tensors.find(name);
    if (!places.empty() && found != set.tensors.end())
      by(found->second, places);
  };
  change("features", columns, take_columns);
  change("labels", targets, take_columns);
  change("labels", classes, [](tensor::Tensor& labels, const Places& places) {
    renumber(labels, places);
  });
}

Metadata Alignment::apply(Metadata metadata, const Metadata& wanted) const {
  if (!columns.empty()) {
    Field& features = metadata.schema.at("features");
    take(metadata.statistics, features.shape.back(), columns);
    take(features, columns);
    metadata.columns = wanted.columns;
  }
  if (!targets.empty()) {
    Field& labels = metadata.schema.at("labels");
    take(metadata.label_statistics, labels.shape.back(), targets);
    take(labels, targets);
    if (!metadata.targets.empty()) metadata.targets = wanted.targets;
  }
  // align() has found them all among the wanted ones.
  if (!metadata.classes.empty() && !wanted.classes.empty())
    metadata.classes = wanted.classes;
  return metadata;
}

Json Alignment::to_json() const {
  if (changes_nothing()) return {};
  return {{"columns", columns}, {"targets", targets}, {"classes", classes}};
}

Alignment Alignment::from_json(const JsonView& json) {
  if (json.raw().is_null()) return {};
  json.only({"columns", "targets", "classes"});
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  Alignment result;
  result.columns = json.at("columns").integers(0, kMax);
  result.targets = json.at("targets").integers(0, kMax);
  result.classes = json.at("classes").integers(0, kMax);
  return result;
}

Alignment align(const Metadata& data, const Metadata& wanted, bool labels) {
  Alignment result;
  const Field* features = field_of(data, "features");
  if (features && !as_wanted(data.columns, wanted.columns)) {
    check_width(*features, data.columns, "features");
    result.columns = places_of(data.columns, wanted.columns, "columns");
    note_columns(data.columns, wanted.columns, result);
  }
  const Field* own = field_of(data, "labels");
  if (!labels || !own) return result;
  if (!as_wanted(data.classes, wanted.classes))
    align_classes(data, wanted, *own, result);
  if (!as_wanted(data.targets, wanted.targets)) {
    check_width(*own, data.targets, "labels");
    if (data.targets.size() != wanted.targets.size())
      refuse("labels have " + std::to_string(data.targets.size()) +
             " columns, want " + std::to_string(wanted.targets.size()));
    result.targets = places_of(data.targets, wanted.targets, "label columns");
    add_note(result, "label columns in another order are put right by name");
  }
  return result;
}

}  // namespace dl::data
