#include "libcore/vectorize/csv_fields.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/count_lines.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Tensor;

// Dates and times of digits, as 2024-01-31, 31.1.2024 08:30 and 8:30.
bool is_date(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  return !text.empty() &&
         kDigits.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of("0123456789-/.: TZ+") ==
             std::string_view::npos &&
         (text.find_first_of("-/:", 1) != std::string_view::npos ||
          std::ranges::count(text, '.') == 2);
}

}  // namespace

MissingRule::MissingRule(const CsvOptions& csv) {
  for (std::string& word : split_list(csv.na, "--na"))
    words.insert(std::move(word));
  words.insert("");
  // NaN is missing anyway.
  for (const std::string& word : words)
    if (double number = 0; parse_number(word, number) && !std::isnan(number))
      has_numbers = true;
  if (csv.missing == "fail") return;
  kind = csv.missing == "skip" ? kSkip : kFill;
  if (kind == kSkip) return;
  if (!csv.missing.starts_with("fill:") ||
      !parse_number(std::string_view(csv.missing).substr(5), value) ||
      !(std::abs(value) < std::numeric_limits<double>::max()))
    throw Error{Code::kUsage,
                "--missing: want fail, skip or fill:NUMBER, got '" +
                    displayed(csv.missing) + "'"};
}

CsvFields::CsvFields(const CsvTable& table, const ReaderOptions& options,
                     const CsvOptions& csv)
    : table_(table),
      options_(options),
      csv_(csv),
      missing_(csv),
      cut_(csv.sequence),
      classes_(options.classes) {
  if (csv.label.empty())
    throw Error{Code::kUsage,
                "csv wants --label COLUMN (a name, a number from 1, or -1 "
                "for the last), or --label none"};
  if (options.id_bytes > 0) id_bytes_ = options.id_bytes;
  choose_columns();
  choose_shape();
  if (table_.has_header()) {
    check_names(features_);
    check_names(labels_);
  }
  recipe_ = recipe();
}

void CsvFields::choose_columns() {
  std::set<std::size_t> taken;
  const auto take = [&](const std::string& word, const char* option,
                        bool in_list = true) {
    return *taken.insert(table_.find(word, option, in_list)).first;
  };
  if (csv_.label != "none")
    for (const std::string& word : split_list(csv_.label, "--label"))
      labels_.push_back(take(word, "--label"));
  if (!options_.regression && labels_.size() > 1)
    throw Error{Code::kUsage,
                "--label: a class is one column; several go with "
                "--regression"};
  if (!csv_.drop.empty())
    for (const std::string& word : split_list(csv_.drop, "--drop"))
      if (const std::size_t column = take(word, "--drop");
          std::ranges::find(labels_, column) != labels_.end())
        throw Error{Code::kUsage, "--drop: column '" + displayed(word) +
                                      "' is one of --label"};
  if (cut_.way == SequenceCut::kColumn)
    sequence_ = take(csv_.sequence, "--sequence", false);
  if (!csv_.id.empty()) id_ = take(csv_.id, "--id", false);
  if (!csv_.weight.empty()) weight_ = take(csv_.weight, "--weight", false);
  if (weight_ && labels_.empty())
    throw Error{Code::kUsage, "--weight is of labels: want --label COLUMN"};
  for (std::size_t i = 0; i < table_.names().size(); ++i)
    if (!taken.contains(i)) features_.push_back(i);
  if (features_.empty())
    throw Error{Code::kUsage,
                table_.name() + " has no columns left to be features"};
}

// Columns are matched by name wherever the data are used.
void CsvFields::check_names(const std::vector<std::size_t>& columns) const {
  std::map<std::string_view, std::size_t> seen;
  for (const std::size_t i : columns) {
    const std::string& name = table_.names()[i];
    const auto [first, is_new] = seen.emplace(name, i);
    if (!is_new)
      throw Error{Code::kData, table_.name() + ": columns " +
                                   std::to_string(first->second + 1) + " and " +
                                   std::to_string(i + 1) +
                                   " are both called '" + clipped(name) +
                                   "'; rename one, or leave it out with "
                                   "--drop " +
                                   std::to_string(i + 1)};
  }
}

void CsvFields::choose_shape() {
  const auto columns = static_cast<std::int64_t>(features_.size());
  shape_ = {columns};
  if (!options_.shape.empty()) {
    shape_ = parse_shape(options_.shape);
    if (cut_.way != SequenceCut::kNone)
      throw Error{Code::kUsage, "--shape does not go with --sequence"};
    if (shape_.elements() != columns)
      throw Error{Code::kUsage, "--shape: " + options_.shape + " has " +
                                    std::to_string(shape_.elements()) +
                                    " elements, " + table_.name() + " has " +
                                    std::to_string(columns) +
                                    " columns of features"};
  }
  const DType dtype =
      options_.dtype.empty() ? DType::kF32 : parse_dtype(options_.dtype);
  schema_["features"] = {dtype, shape_};
  if (has_classes()) schema_["labels"] = {DType::kI32, {}};
  if (!labels_.empty() && options_.regression)
    schema_["labels"] = {target_type(dtype),
                         {static_cast<std::int64_t>(labels_.size())}};
  if (weight_) schema_["labels_mask"] = {DType::kF32, {}};
  if (id_) schema_["id"] = {DType::kU8, {id_bytes_}};
}

void CsvFields::describe(data::Metadata& metadata) const {
  metadata.schema = schema_;
  metadata.recipe = recipe_;
  if (!options_.regression) metadata.classes = classes_.names();
  if (!table_.has_header()) return;
  // They name the last dimension, of which there are statistics.
  if (shape_.back() == std::ssize(features_))
    for (const std::size_t i : features_)
      metadata.columns.push_back(table_.names()[i]);
  if (options_.regression)
    for (const std::size_t i : labels_)
      metadata.targets.push_back(table_.names()[i]);
}

CsvFields::Row::Row(data::DataSet& set) {
  const auto find = [&](const char* name) {
    const auto found = set.tensors.find(name);
    return found == set.tensors.end() ? nullptr : &found->second;
  };
  features = find("features");
  labels = find("labels");
  weights = find("labels_mask");
  ids = find("id");
  const auto floats = [](Tensor* tensor) {
    return tensor != nullptr && tensor->dtype() == DType::kF32
               ? tensor->as<float>()
               : std::span<float>();
  };
  feature_values = floats(features);
  label_values = floats(labels);
}

void CsvFields::parse(ParsedBlock& parsed) const {
  CsvRows row(parsed.block, parsed.block.delimiter);
  parsed.set = make_record(schema_, count_lines(parsed.block.bytes) + 1);
  Row to(parsed.set);
  const auto end = [&] {
    parsed.classes = std::move(to.classes).names();
    if (!parsed.filled.empty())
      parsed.filled.resize(static_cast<std::size_t>(parsed.good));
  };
  try {
    while (row.next()) {
      if (note_cut(row, parsed)) continue;
      if (has_classes() || cut_.way != SequenceCut::kNone)
        parsed.lines.push_back(row.line());
      if (!is_whole(row, parsed)) continue;
      to.place = parsed.good;
      std::string problem = fields(row, to);
      if (to.skip || !problem.empty()) {
        parsed.leave_out(to.skip ? "" : std::move(problem), to.label);
        continue;
      }
      if (to.filled > 0) {
        parsed.filled.resize(static_cast<std::size_t>(parsed.good) + 1);
        parsed.filled.back() = to.filled;
      }
      ++parsed.good;
      ++parsed.all;
    }
    if (cut_.way == SequenceCut::kLine && cut_.text.empty())
      parsed.ends_with_cut = row.is_behind_empty();
  } catch (const Error&) {
    end();
    throw;
  }
  end();
}

// Whether the row is none but separates two sequences, which is noted.
bool CsvFields::note_cut(const CsvRows& row, ParsedBlock& parsed) const {
  if (cut_.way != SequenceCut::kLine) return false;
  if (cut_.is_separator(row)) return parsed.ends_with_cut = true;
  parsed.cuts.push_back(std::exchange(parsed.ends_with_cut, false) ||
                        (cut_.text.empty() && row.is_behind_empty()));
  return false;
}

// Whether the row has the columns of the others, and says which sequence it is
// of; else it is left out.
bool CsvFields::is_whole(const CsvRows& row, ParsedBlock& parsed) const {
  if (sequence_) parsed.sequences.emplace_back();
  if (row.size() != table_.names().size()) {
    parsed.leave_out(row.place() + ": has " + std::to_string(row.size()) +
                     " columns, want " + std::to_string(table_.names().size()));
    return false;
  }
  if (!sequence_) return true;
  const std::string_view name = csv_field(row, *sequence_);
  if (!is_missing(name)) {
    parsed.sequences.back() = name;
    return true;
  }
  bool skip = false;
  std::string problem = missing_name(row, "sequence", *sequence_, skip);
  parsed.leave_out(skip ? "" : std::move(problem));
  return false;
}

std::string CsvFields::fields(const CsvRows& row, Row& to) const {
  to.label.reset();
  to.filled = 0;
  to.skip = false;
  std::string problem;
  const auto go_on = [&] { return problem.empty() && !to.skip; };
  for (std::size_t c = 0; go_on() && c < features_.size(); ++c)
    if (!is_plain_number(row, to, false, c))
      problem = number(row, to, false, c);
  if (go_on() && has_classes()) problem = class_label(row, to);
  for (std::size_t t = 0; go_on() && options_.regression && t < labels_.size();
       ++t)
    if (!is_plain_number(row, to, true, t)) problem = number(row, to, true, t);
  if (go_on() && weight_) problem = weight(row, to);
  if (go_on() && id_) problem = id(row, to);
  return problem;
}

bool CsvFields::names_columns(const CsvRows& row) const {
  return row.is_first() && !table_.has_header() &&
         std::ranges::none_of(features_, [&](std::size_t i) {
           double value = 0;
           return parse_number(csv_field(row, i), value);
         });
}

bool CsvFields::is_plain_number(const CsvRows& row, Row& to, bool of_labels,
                                std::size_t i) const {
  const std::vector<std::size_t>& columns = of_labels ? labels_ : features_;
  const std::span<float> values =
      of_labels ? to.label_values : to.feature_values;
  double value = 0;
  if (values.empty() || missing_.has_numbers ||
      !parse_number(csv_field(row, columns[i]), value) ||
      !(std::abs(value) < kMostExactInteger))
    return false;
  values[static_cast<std::size_t>(to.place) * columns.size() + i] =
      static_cast<float>(value);
  return true;
}

void CsvFields::note_rounded(const CsvRows& row, std::size_t column) const {
  const std::lock_guard lock(mutex_);
  if (rounded_.empty())
    rounded_ = "integers from 2^53 on are rounded, as '" +
               clipped(csv_field(row, column)) + "' in " +
               table_.place(row, column);
}

std::string CsvFields::warning() const {
  const std::lock_guard lock(mutex_);
  return rounded_.empty() ? classes_.doubt()
                          : rounded_.substr(0, rounded_.size() - 2);
}

std::string CsvFields::number(const CsvRows& row, Row& to, bool of_labels,
                              std::size_t i) const {
  const std::vector<std::size_t>& columns = of_labels ? labels_ : features_;
  const std::size_t column = columns[i];
  Tensor& target = of_labels ? *to.labels : *to.features;
  std::string_view text = csv_field(row, column);
  double value = 0;
  const bool is_number = parse_number(text, value);
  const bool known =
      is_number && !missing_.has_numbers ? true : !is_missing(text);
  if (known && !is_number && !parse_truth(text, value))
    return no_number(row, column, of_labels);
  if (!known || std::isnan(value)) {
    if (of_labels) return missing_name(row, "label", column, to.skip);
    to.skip = missing_.kind == MissingRule::kSkip;
    if (to.skip) return "";
    if (missing_.kind == MissingRule::kFail)
      return table_.place(row, column) +
             "a value is missing (--missing skip or fill:0 lets it pass)";
    ++to.filled;
    value = missing_.value;
    text = csv_.missing;
  }
  if (is_number && is_long_integer(text, value)) note_rounded(row, column);
  const bool has_digits =
      text.find_first_of("0123456789") != std::string_view::npos;
  if (!std::isfinite(value) && !has_digits)
    return table_.place(row, column) + "want a finite number, got '" +
           clipped(text) + "'";
  if (!store(target,
             to.place * std::ssize(columns) + static_cast<std::int64_t>(i),
             value))
    return table_.place(row, column) + does_not_fit(text, target.dtype());
  return "";
}

namespace {

// Whether programs and people write it in the place of a missing number.
bool stands_for_nothing(std::string_view text) {
  static const std::set<std::string> words = {
      "-",     "--",      "---",       ".",     "..",    "?",    "*",
      "n/a",   "na",      "n.a.",      "#n/a",  "<na>",  "none", "null",
      "nil",   "nan",     "nd",        "n/d",   "n.d.",  "void", "missing",
      "empty", "unknown", "undefined", "blank", "(null)"};
  std::string lower;
  for (const char c : text)
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return words.contains(lower);
}

}  // namespace

// In the first row it is the column, or the whole row, that has no numbers.
std::string CsvFields::no_number(const CsvRows& row, std::size_t column,
                                 bool is_label) const {
  const std::string_view text = csv_field(row, column);
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  double value = 0;
  std::string hint;
  if (parse_number(with_point, value))
    hint = csv_.delimiter == ","
               ? " (numbers want a decimal point, not a comma)"
               : " (numbers want a decimal point, not a comma: read 'pipe:tr "
                 ", . <FILE')";
  else if (names_columns(row))
    hint = " (does the first row name the columns? --header)";
  else if (stands_for_nothing(text))
    hint = " (if it stands for a missing value: --na '" + std::string(text) +
           "' with --missing skip or fill:0)";
  else if (row.is_first() && is_label)
    hint = " (without --regression labels may be names of classes)";
  else if (row.is_first() && is_date(text))
    hint =
        " (--drop leaves the column out; 'dl-preprocess table' makes numbers "
        "of "
        "dates)";
  else if (row.is_first())
    hint =
        " (--drop or --id if the column is no feature; 'dl-preprocess table' "
        "makes numbers of words)";
  return table_.place(row, column) + "want a number, got '" + clipped(text) +
         "'" + hint;
}

// To fill one in would be to invent what is to be learnt, or what belongs
// together.
std::string CsvFields::missing_name(const CsvRows& row, const std::string& what,
                                    std::size_t column, bool& skip) const {
  skip = missing_.kind == MissingRule::kSkip;
  if (skip) return "";
  // A class or a name may be such a word, a number may not.
  const std::string text(csv_field(row, column));
  const std::string taken =
      text.empty() || options_.regression
          ? ""
          : ", --na '' takes '" + clipped(text) + "' as it is";
  return table_.place(row, column) + "the " + what + " is missing" +
         (missing_.kind == MissingRule::kFill
              ? ", and " + what +
                    "s are not filled in (--missing skip or "
                    "--max-bad leaves the row out)"
              : " (--missing skip leaves the row out" + taken + ")");
}

std::string CsvFields::class_label(const CsvRows& row, Row& to) const {
  const std::string_view text = csv_field(row, labels_[0]);
  if (is_missing(text)) return missing_name(row, "label", labels_[0], to.skip);
  to.label = to.classes.number(text);
  to.labels->as<std::int32_t>()[static_cast<std::size_t>(to.place)] = *to.label;
  return "";
}

std::string CsvFields::take_label(ParsedBlock& parsed, std::int64_t number,
                                  std::int32_t& label) {
  if (parsed.class_numbers.empty())
    parsed.class_numbers.assign(parsed.classes.size(), -1);
  const auto own = static_cast<std::size_t>(label);
  std::int64_t& index = parsed.class_numbers[own];
  if (index >= 0)
    classes_.again();
  else
    index = classes_.index(parsed.classes[own]);
  label = static_cast<std::int32_t>(index);
  if (index >= 0) return "";
  return table_.place(parsed.block,
                      parsed.lines[static_cast<std::size_t>(number)],
                      labels_[0]) +
         classes_.complaint(parsed.classes[own]);
}

std::string CsvFields::weight(const CsvRows& row, Row& to) const {
  const std::string_view text = csv_field(row, *weight_);
  if (is_missing(text)) return missing_name(row, "weight", *weight_, to.skip);
  double value = 0;
  const bool is_number = parse_number(text, value);
  const auto weight = static_cast<float>(value);
  to.weights->as<float>()[static_cast<std::size_t>(to.place)] = weight;
  return is_number && weight >= 0 && std::isfinite(weight)
             ? ""
             : table_.place(row, *weight_) +
                   "want a weight, a number from 0 on, " + "got '" +
                   clipped(text) + "'";
}

std::string CsvFields::id(const CsvRows& row, Row& to) const {
  const std::string_view text = csv_field(row, *id_);
  if (text.empty()) return table_.place(row, *id_) + "the id is missing";
  if (!is_utf8(text)) return table_.place(row, *id_) + not_utf8("the id", text);
  if (static_cast<std::int64_t>(text.size()) > id_bytes_)
    return table_.place(row, *id_) + "the id '" + clipped(text) + "' has " +
           std::to_string(text.size()) + " bytes, --id-bytes is " +
           std::to_string(id_bytes_);
  const auto place = to.ids->as<std::uint8_t>().subspan(
      static_cast<std::size_t>(to.place * id_bytes_),
      static_cast<std::size_t>(id_bytes_));
  std::ranges::fill(place, std::uint8_t{0});
  std::ranges::copy(text, place.begin());
  return "";
}

}  // namespace dl::vectorize
