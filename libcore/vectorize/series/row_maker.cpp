#include "libcore/vectorize/series/row_maker.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/windows.h"

namespace dl::vectorize {
namespace {

bool is_of_labels(const std::string& tensor) {
  return tensor.starts_with("labels");
}

// Numbers of one column that are made alike have one.
std::string shared_name(const RecipePart& part, const std::string& column) {
  Json how = part.settings().json();
  how.erase("from");
  return column + '\n' + dump_json(how);
}

}  // namespace

RowMaker::RowMaker(
    const Recipe& recipe, const SeriesSettings& settings,
    const std::map<std::string, std::vector<std::string>>& classes, bool labels)
    : settings_(settings), classes_(classes) {
  for (const bool of_labels : {false, true})
    for (const RecipeTensor& tensor : recipe.tensors)
      if (is_of_labels(tensor.name) == of_labels && tensor.name != "id" &&
          (labels || !of_labels))
        make(tensor, recipe.from);
  if (!labels) find_targets(recipe);
  make_lags();
}

// Features that are targets, where the labels are not made.
void RowMaker::find_targets(const Recipe& recipe) {
  for (const RecipeTensor& tensor : recipe.tensors)
    if (is_of_labels(tensor.name))
      for (const RecipePart& part : tensor.parts) {
        if (part.type->name != "number") continue;
        for (const std::string& name : part.settings().texts("from"))
          if (const auto found = numbers_.find(shared_name(part, name));
              found != numbers_.end()) {
            targets_.push_back(found->second);
            names_.push_back(name);
          }
      }
}

std::vector<std::int64_t> RowMaker::Made::columns() const {
  std::vector<std::int64_t> all;
  for (const Part& part : parts)
    all.insert(all.end(), part.columns.begin(), part.columns.end());
  all.insert(all.end(), lags.begin(), lags.end());
  return all;
}

void RowMaker::make_lags() {
  if (settings_.lags.empty() && settings_.difference == 0) return;
  const auto is_feature = [&](std::size_t column) {
    return std::ranges::any_of(
        numbers_, [&](const auto& number) { return number.second == column; });
  };
  if (targets_.empty() || !std::ranges::all_of(targets_, is_feature))
    bad_config(
        "lags and difference are of numbers to predict that are features, too");
  const auto made = std::ranges::find_if(tensors_, [](const Made& tensor) {
    return tensor.name == "features" || tensor.name == "features/past";
  });
  if (made == tensors_.end())
    bad_config("lags and difference want features, or features/past");
  for (const std::int64_t rows : settings_.lags)
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      lags_.push_back({columns_.size(), targets_[t], rows});
      made->lags.push_back(columns_.size());
      made->about.columns.push_back(names_[t] + "_lag" + std::to_string(rows));
      columns_.push_back(RowColumn::kLag);
    }
}

std::vector<std::pair<std::size_t, std::string>> RowMaker::fixed() const {
  std::vector<std::pair<std::size_t, std::string>> all;
  for (const Made& made : tensors_) {
    if (!made.name.ends_with("/static")) continue;
    const auto columns = made.columns();
    for (std::size_t i = 0; i < columns.size(); ++i)
      all.emplace_back(
          static_cast<std::size_t>(columns[i]),
          i < made.about.columns.size() ? made.about.columns[i] : made.name);
  }
  return all;
}

void RowMaker::make(const RecipeTensor& tensor, RecipeFrom from) {
  Made made{tensor.name, {}, {}};
  for (const RecipePart& part : tensor.parts) try {
      make_part(part, from, made);
    } catch (Error& e) {
      e.add_context(part.place);
      throw;
    }
  tensors_.push_back(std::move(made));
}

void RowMaker::make_part(const RecipePart& part, RecipeFrom from, Made& made) {
  const bool of_labels = is_of_labels(made.name);
  Part own;
  RecipePart as_given = part;
  own.is_calendar = part.type->name == "date" &&
                    part.settings().text("from") == settings_.time;
  if (own.is_calendar) {  // of the time of a step, which is in ISO 8601
    if (settings_.has_number_times())
      bad_config("the time is a number and has no calendar");
    as_given.given["format"] = DateFormat::kIso;
  }
  const auto known = classes_.find(made.name);
  own.vectorizer = part.type->make(
      as_given.settings(from),
      known == classes_.end() ? std::vector<std::string>{} : known->second);
  own.workspace = own.vectorizer->workspace();
  const data::Field field = own.vectorizer->field();
  own.dtype = field.dtype;
  const bool is_class = field.dtype == tensor::DType::kI32;
  if (field.encoding != data::Encoding::kNone || field.shape.rank() > 1 ||
      (field.dtype != tensor::DType::kF32 && !(is_class && of_labels)))
    bad_config(
        "a series is of numbers: want number, date, and category with "
        "\"encode\": \"one_hot\" or \"hashed\"");
  if (is_class && settings_.horizon > 1)
    bad_config("a class is of one row: want a horizon of 0 or 1");
  data::About about;
  own.vectorizer->describe(about, of_labels);
  const bool is_number = part.type->name == "number";
  const std::vector<std::string>& names =
      of_labels ? about.targets : about.columns;
  for (std::int64_t i = 0; i < field.shape.elements(); ++i) {
    const std::string name = std::cmp_less(i, names.size())
                                 ? names[static_cast<std::size_t>(i)]
                                 : "";
    const auto shared =
        is_number ? numbers_.find(shared_name(part, name)) : numbers_.end();
    const bool is_shared = shared != numbers_.end();
    own.columns.push_back(is_shared ? shared->second : columns_.size());
    if (of_labels && is_number) {
      targets_.push_back(own.columns.back());
      names_.push_back(name);
    }
    if (is_shared) continue;
    if (is_number && !of_labels)
      numbers_.emplace(shared_name(part, name), columns_.size());
    columns_.push_back(own.is_calendar ? RowColumn::kCalendar
                       : is_number     ? RowColumn::kNumber
                                       : RowColumn::kOther);
  }
  made.about.columns.insert(made.about.columns.end(), about.columns.begin(),
                            about.columns.end());
  made.about.targets.insert(made.about.targets.end(), about.targets.begin(),
                            about.targets.end());
  made.parts.push_back(std::move(own));
}

void RowMaker::put_part(Part& part, const Record& record, std::int64_t seen,
                        std::span<float> row) const {
  buffer_.resize(part.columns.size() * sizeof(float));
  part.vectorizer->put(record, seen, part.workspace.get(), buffer_);
  for (std::size_t i = 0; i < part.columns.size(); ++i) {
    const std::byte* at = buffer_.data() + i * sizeof(float);
    float value = 0;
    if (part.dtype == tensor::DType::kI32) {
      std::int32_t number = 0;
      std::memcpy(&number, at, sizeof number);
      value = static_cast<float>(number);
    } else {
      std::memcpy(&value, at, sizeof value);
    }
    row[part.columns[i]] = value;
  }
}

void RowMaker::put(const Record& record, std::span<float> row) {
  for (Made& made : tensors_)
    for (Part& part : made.parts)
      if (!part.is_calendar)
        put_part(part, record, part.vectorizer->see(record), row);
}

void RowMaker::put_calendar(Time time, std::span<float> row) const {
  if (std::ranges::find(columns_, RowColumn::kCalendar) == columns_.end())
    return;
  Record record;
  (void)record.columns.emplace(settings_.time, time_text(time, false));
  for (const Made& made : tensors_)
    for (const Part& part : made.parts) {
      if (!part.is_calendar) continue;
      buffer_.resize(part.columns.size() * sizeof(float));
      part.vectorizer->put(record, 0, part.workspace.get(), buffer_);
      for (std::size_t i = 0; i < part.columns.size(); ++i)
        std::memcpy(&row[part.columns[i]], buffer_.data() + i * sizeof(float),
                    sizeof(float));
    }
}

data::Field RowMaker::field_of(const Made& made) const {
  data::Field field;
  field.encoding = data::Encoding::kWindow;
  field.window.columns = made.columns();
  const auto columns = static_cast<std::int64_t>(field.window.columns.size());
  const std::int64_t ahead = settings_.window + settings_.gap;
  if (is_of_labels(made.name)) {
    const bool is_class = made.parts[0].dtype == tensor::DType::kI32;
    field.dtype = made.parts[0].dtype;
    field.window.first = settings_.horizon == 0 ? settings_.window - 1 : ahead;
    field.shape =
        is_class ? tensor::Shape()
                 : tensor::Shape{std::max<std::int64_t>(1, settings_.horizon) *
                                 columns};
  } else if (made.name.ends_with("/known")) {
    if (settings_.horizon == 0)
      bad_config("columns that are known ahead want a horizon");
    field.window.first = ahead;
    field.shape = {settings_.horizon, columns};
  } else if (made.name.ends_with("/static")) {
    field.shape = {columns};
  } else {
    field.shape = {settings_.window, columns};
  }
  return field;
}

data::Metadata RowMaker::metadata() const {
  data::Metadata metadata;
  std::int64_t steps = settings_.window;
  for (const Made& made : tensors_) {
    const data::Field field = field_of(made);
    metadata.schema[made.name] = field;
    const std::int64_t rows =
        field.shape.elements() /
        static_cast<std::int64_t>(field.window.columns.size());
    steps = std::max(steps, field.window.first + rows);
    const std::size_t slash = made.name.find('/');
    data::About& about = slash == std::string::npos
                             ? metadata
                             : metadata.parts[made.name.substr(slash + 1)];
    const std::vector<std::string>& targets = made.about.targets;
    if (!is_of_labels(made.name)) {
      about.columns = made.about.columns;
    } else if (!made.parts.empty()) {
      data::About own;
      made.parts[0].vectorizer->describe(own, true);
      about.classes = own.classes;
      for (std::int64_t h = 1; h <= settings_.horizon && !targets.empty(); ++h)
        for (const std::string& name : targets)
          about.targets.push_back(
              settings_.horizon == 1 ? name : name + "+" + std::to_string(h));
      if (settings_.horizon == 0) about.targets = targets;
    }
  }
  data::Field series;
  series.encoding = data::Encoding::kSeries;
  series.shape = {steps, static_cast<std::int64_t>(columns_.size())};
  metadata.schema[data::kSeriesName] = series;
  return metadata;
}

}  // namespace dl::vectorize
