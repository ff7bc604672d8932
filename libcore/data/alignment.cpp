// Matching of columns and classes by name.

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

const About& about(const Metadata& metadata, const std::string& part) {
  static const About kNothing;
  if (part.empty()) return metadata;
  const auto found = metadata.parts.find(part);
  return found == metadata.parts.end() ? kNothing : found->second;
}

void add_note(std::string& all, const std::string& note) {
  if (!note.empty()) all += (all.empty() ? "" : "; ") + note;
}

namespace {

using Names = std::vector<std::string>;
using Places = std::vector<std::int64_t>;

// "'a', 'b', 'c', ..."
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + in_quotes(names[i]);
  return names.size() > kMost ? text + ", ..." : text;
}

// `what` says what has the names, such as "columns". what has the names,
// "columns".
std::map<std::string, std::int64_t> numbered(const Names& names,
                                             const std::string& what) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& name : names)
    if (!numbers.emplace(name, static_cast<std::int64_t>(numbers.size()))
             .second)
      bad_data("two " + what + " are called " + in_quotes(name) +
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
      bad_data("there is no " + in_quotes(name) + " among the " + what + ": " +
               listed(own));
    places.push_back(found->second);
  }
  return places;
}

// An order that is being found, and the notes of it.
struct Finding : Order {
  std::string note;
};

void note_columns(const Names& own, const Names& wanted, Finding& result) {
  Names more;
  for (const std::string& name : own)
    if (std::ranges::find(wanted, name) == wanted.end()) more.push_back(name);
  if (!more.empty())
    add_note(result.note,
             "columns that are not wanted are left out: " + listed(more));
  if (!std::ranges::is_sorted(result.columns))
    add_note(result.note, "columns in another order are put right by name");
}

// "labels/digit"; part "": "labels".
std::string tensor_of(const char* kind, const std::string& part) {
  return part.empty() ? kind : std::string(kind) + "/" + part;
}

// The shape of one example of a tensor, null where there is none.
const Field* field_of(const Metadata& metadata, const char* name) {
  const auto found = metadata.schema.find(name);
  return found == metadata.schema.end() ? nullptr : &found->second;
}

void check_width(const Field& field, const Names& names, const char* tensor) {
  const std::int64_t width = field.shape.rank() > 0 ? field.shape.back() : 1;
  if (std::cmp_not_equal(width, names.size()))
    bad_data("'" + displayed(tensor) + "' has " + std::to_string(width) +
             " columns, but there are " + std::to_string(names.size()) +
             " names of them");
}

// Whether labels are numbers of classes, rather than a value for each.
bool are_numbers(const Field& labels, const Names& classes) {
  return !tensor::is_real(labels.dtype) || labels.shape.rank() == 0 ||
         std::cmp_not_equal(labels.shape.back(), classes.size());
}

void align_classes(const Metadata& data, const Metadata& wanted,
                   const Field& labels, Finding& result) {
  // The first ones of more is right as well.
  if (data.classes.size() <= wanted.classes.size() &&
      std::equal(data.classes.begin(), data.classes.end(),
                 wanted.classes.begin()))
    return;
  if (!are_numbers(labels, data.classes)) {
    if (data.classes.size() != wanted.classes.size())
      bad_data("labels have a value for each of " +
               std::to_string(data.classes.size()) + " classes, not for " +
               std::to_string(wanted.classes.size()));
    result.targets = places_of(data.classes, wanted.classes, "classes");
    add_note(result.note, "classes in another order are put right by name");
    return;
  }
  const auto numbers = numbered(wanted.classes, "classes");
  numbered(data.classes, "classes");
  for (std::size_t i = 0; i < data.classes.size(); ++i) {
    const auto found = numbers.find(data.classes[i]);
    if (found == numbers.end())
      bad_data("its class " + std::to_string(i) + " is " +
               in_quotes(data.classes[i]) + ", which is none of " +
               listed(wanted.classes) + "; preprocess it with --classes");
    result.classes.push_back(found->second);
  }
  add_note(result.note, "classes in another order are put right by name");
}

template <typename T>
void renumber(std::span<T> labels, const Places& classes) {
  for (T& label : labels) {
    if (std::cmp_less(label, 0) ||
        std::cmp_greater_equal(label, classes.size()))
      bad_data("'labels' has " + std::to_string(label) + ", want 0.." +
               std::to_string(classes.size() - 1));
    const std::int64_t now = classes[static_cast<std::size_t>(label)];
    if (!std::in_range<T>(now))
      bad_data("class " + std::to_string(now) +
               " does not fit labels of type " +
               std::string(tensor::name_of(tensor::dtype_of<T>())));
    label = static_cast<T>(now);
  }
}

void renumber(tensor::Tensor& labels, const Places& classes) {
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>)
      renumber(labels.as<T>(), classes);
    else
      bad_data("labels are no class numbers");
  });
}

// Takes the columns at these places of the last dimension.
void take_columns(tensor::Tensor& tensor, const Places& places) {
  const tensor::Shape& shape = tensor.shape();
  const std::int64_t width = shape.rank() > 1 ? shape.back() : 0;
  for (const std::int64_t place : places)
    if (place >= width) bad_data("an example has too few columns");
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

// A tensor that is cut of windows: the columns at these places, where they are
// columns of the series.  Else it is no window any longer.
void take_columns_of_windows(DataSet& set, const std::string& name,
                             const Places& places) {
  const auto found = set.views.find(name);
  if (found == set.views.end()) return;
  WindowView& view = found->second;
  std::vector<std::int64_t>& columns = view.window.columns;
  if (view.shape.rank() == 0 ||
      std::cmp_not_equal(view.shape.back(), columns.size())) {
    set.views.erase(found);
    return;
  }
  std::vector<std::int64_t> taken;
  for (const std::int64_t place : places)
    taken.push_back(columns.at(static_cast<std::size_t>(place)));
  columns = std::move(taken);
  std::vector<std::int64_t> extents(view.shape.extents().begin(),
                                    view.shape.extents().end());
  extents.back() = static_cast<std::int64_t>(places.size());
  view.shape = tensor::Shape(std::span(extents));
}

void apply_to(DataSet& set, const std::string& part, const Order& order) {
  const auto change = [&](const char* kind, const Places& places,
                          const auto& by) {
    const std::string name = tensor_of(kind, part);
    const auto found = set.tensors.find(name);
    if (places.empty() || found == set.tensors.end()) return;
    by(found->second, places);
    if (&places == &order.classes)
      set.views.erase(name);
    else
      take_columns_of_windows(set, name, places);
  };
  change("features", order.columns, take_columns);
  change("labels", order.targets, take_columns);
  change("labels", order.classes,
         [](tensor::Tensor& labels, const Places& places) {
           renumber(labels, places);
         });
}

void apply_to(Metadata& metadata, const std::string& part, const Order& order,
              const Metadata& wanted) {
  const About& names = about(wanted, part);
  About& own = part.empty() ? metadata : metadata.parts[part];
  if (!order.columns.empty()) {
    Field& features = metadata.schema.at(tensor_of("features", part));
    take(own.statistics, features.shape.back(), order.columns);
    take(features, order.columns);
    own.columns = names.columns;
  }
  if (!order.targets.empty()) {
    Field& labels = metadata.schema.at(tensor_of("labels", part));
    take(own.label_statistics, labels.shape.back(), order.targets);
    take(labels, order.targets);
    if (!own.targets.empty()) own.targets = names.targets;
  }
  // Labels that nobody looks at keep their numbers, and what these stand for.
  const bool same_numbers =
      !order.classes.empty() ||
      std::ranges::mismatch(own.classes, names.classes).in1 ==
          own.classes.end();
  if (!own.classes.empty() && !names.classes.empty() && same_numbers)
    own.classes = names.classes;
}

Json order_to_json(const Order& order) {
  return {{"columns", order.columns},
          {"targets", order.targets},
          {"classes", order.classes}};
}

Order order_from_json(const JsonView& json) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return {json.at("columns").integers(0, kMax),
          json.at("targets").integers(0, kMax),
          json.at("classes").integers(0, kMax)};
}

// data, wanted: of the tensors with one name alone, without it.
Finding find_order(const Metadata& data, const Metadata& wanted, bool labels) {
  Finding result;
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
      bad_data("labels have " + std::to_string(data.targets.size()) +
               " columns, want " + std::to_string(wanted.targets.size()));
    result.targets = places_of(data.targets, wanted.targets, "label columns");
    add_note(result.note,
             "label columns in another order are put right by name");
  }
  return result;
}

}  // namespace

bool Alignment::orders_labels_as(const Alignment& other) const {
  const auto same = [](const Order& a, const Order& b) {
    return a.classes == b.classes && a.targets == b.targets;
  };
  const auto like = [&](const Alignment& a, const Alignment& b) {
    return std::ranges::all_of(a.parts, [&](const auto& part) {
      const auto found = b.parts.find(part.first);
      return same(part.second,
                  found == b.parts.end() ? Order() : found->second);
    });
  };
  return same(*this, other) && like(*this, other) && like(other, *this);
}

void Alignment::apply(DataSet& set) const {
  apply_to(set, "", *this);
  for (const auto& [name, order] : parts) apply_to(set, name, order);
}

Metadata Alignment::apply(Metadata metadata, const Metadata& wanted) const {
  apply_to(metadata, "", *this, wanted);
  for (auto& [name, own] : metadata.parts) {
    const auto order = parts.find(name);
    apply_to(metadata, name, order == parts.end() ? Order() : order->second,
             wanted);
  }
  return metadata;
}

Json Alignment::to_json() const {
  if (changes_nothing()) return {};
  Json json = order_to_json(*this);
  for (const auto& [name, order] : parts)
    json["parts"][name] = order_to_json(order);
  return json;
}

Alignment Alignment::from_json(const JsonView& json) {
  if (json.raw().is_null()) return {};
  json.only({"columns", "targets", "classes", "parts"});
  Alignment result;
  static_cast<Order&>(result) = order_from_json(json);
  if (!json.has("parts")) return result;
  const JsonView parts = json.at("parts");
  if (!parts.raw().is_object()) parts.fail("an object");
  for (const auto& item : parts.raw().items()) {
    const JsonView part = parts.at(item.key());
    part.only({"columns", "targets", "classes"});
    result.parts[item.key()] = order_from_json(part);
  }
  return result;
}

Alignment align(const Metadata& data, const Metadata& wanted, bool labels) {
  Alignment result;
  const Finding whole = find_order(data.part(""), wanted.part(""), labels);
  static_cast<Order&>(result) = whole;
  result.note = whole.note;
  for (const std::string& name : wanted.names()) {
    const std::string called = "what is called '" + displayed(name) + "'";
    try {
      const Finding part =
          find_order(data.part(name), wanted.part(name), labels);
      if (!part.note.empty()) add_note(result.note, called + ": " + part.note);
      if (!part.changes_nothing()) result.parts[name] = part;
    } catch (Error& e) {
      e.add_context(called);
      throw;
    }
  }
  return result;
}

}  // namespace dl::data
