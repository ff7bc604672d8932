#include "libcore/vectorize/csv_fields.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Tensor;

// Row i of a tensor whose rows are as long as `row`.
void put(Tensor& target, std::int64_t i, std::span<const std::byte> row) {
  std::memcpy(target.bytes().data() + static_cast<std::size_t>(i) * row.size(),
              row.data(), row.size());
}

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

// As pandas and R write them.
bool parse_truth(std::string_view text, double& value) {
  const bool yes = text == "True" || text == "TRUE" || text == "true";
  value = yes ? 1 : 0;
  return yes || text == "False" || text == "FALSE" || text == "false";
}

}  // namespace

MissingRule::MissingRule(const CsvOptions& csv) {
  for (std::string& word : split_list(csv.na, "--na"))
    words.insert(std::move(word));
  words.insert("");
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

CsvFields::CsvFields(CsvTable& table, const ReaderOptions& options,
                     const CsvOptions& csv, BadRecords& bad)
    : table_(table),
      options_(options),
      csv_(csv),
      bad_(bad),
      missing_(csv),
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
  if (!csv_.sequence.empty())
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
    if (sequence_)
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
  features_row_ = Tensor(dtype, {columns});
  if (labels_.empty()) return;
  label_row_ = options_.regression
                   ? Tensor(target_type(dtype),
                            {static_cast<std::int64_t>(labels_.size())})
                   : Tensor(DType::kI32, {});
}

void CsvFields::describe(data::Metadata& metadata) const {
  metadata.schema["features"] = {features_row_.dtype(), shape_};
  if (!labels_.empty())
    metadata.schema["labels"] = {label_row_.dtype(), label_row_.shape()};
  if (weight_) metadata.schema["labels_mask"] = {DType::kF32, {}};
  if (id_) metadata.schema["id"] = {DType::kU8, {id_bytes_}};
  if (!options_.regression) metadata.classes = classes_.names();
  if (!table_.has_header()) return;
  // They name the last dimension, of which there are statistics.
  if (shape_.back() == features_row_.elements())
    for (const std::size_t i : features_)
      metadata.columns.push_back(table_.names()[i]);
  if (options_.regression)
    for (const std::size_t i : labels_)
      metadata.targets.push_back(table_.names()[i]);
}

bool CsvFields::is_whole() {
  if (table_.size() != table_.names().size()) {
    bad_.add(table_.place() + ": has " + std::to_string(table_.size()) +
             " columns, want " + std::to_string(table_.names().size()));
    return false;
  }
  if (!sequence_ || !missing_.words.contains(sequence())) return true;
  bool skip = false;
  const std::string problem = missing_name("sequence", *sequence_, skip);
  if (skip)
    bad_.skip();
  else
    bad_.add(problem);
  return false;
}

bool CsvFields::parse() {
  bool skip = false;
  filled_ = 0;
  std::string problem = features(skip);
  if (problem.empty() && !skip && !labels_.empty())
    problem = options_.regression ? targets(skip) : class_label(skip);
  if (problem.empty() && !skip && weight_) problem = weight(skip);
  if (problem.empty() && !skip && id_) problem = id();
  if (skip)
    bad_.skip();
  else if (!problem.empty())
    bad_.add(bad_.tolerant() ? problem : all_problems(problem));
  else
    bad_.fill(filled_);
  return !skip && problem.empty();
}

bool CsvFields::names_columns() const {
  return table_.is_first() && !table_.has_header() &&
         std::ranges::none_of(features_, [&](std::size_t i) {
           double value = 0;
           return parse_number(table_.field(i), value);
         });
}

std::string CsvFields::features(bool& skip) {
  for (std::size_t c = 0; c < features_.size(); ++c) {
    std::string problem =
        number(features_row_, static_cast<std::int64_t>(c), features_[c], skip);
    if (skip || !problem.empty()) return problem;
  }
  return "";
}

std::string CsvFields::number(Tensor& row, std::int64_t i, std::size_t column,
                              bool& skip) {
  std::string_view text = table_.field(column);
  double value = 0;
  const bool known = !missing_.words.contains(text);
  if (known && !parse_number(text, value) && !parse_truth(text, value))
    return no_number(column, &row == &label_row_);
  if (!known || std::isnan(value)) {
    if (&row == &label_row_) return missing_name("label", column, skip);
    skip = missing_.kind == MissingRule::kSkip;
    if (skip) return "";
    if (missing_.kind == MissingRule::kFail)
      return table_.place(column) +
             "a value is missing (--missing skip or fill:0 lets it pass)";
    ++filled_;
    value = missing_.value;
    text = csv_.missing;
  }
  if (!std::isfinite(value))
    return table_.place(column) + "want a finite number, got '" +
           clipped(text) + "'";
  if (!store(row, i, value))
    return table_.place(column) + does_not_fit(text, row.dtype());
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
std::string CsvFields::no_number(std::size_t column, bool is_label) const {
  const std::string_view text = table_.field(column);
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  double value = 0;
  std::string hint;
  if (parse_number(with_point, value))
    hint = csv_.delimiter == ","
               ? " (numbers want a decimal point, not a comma)"
               : " (numbers want a decimal point, not a comma: read 'pipe:tr "
                 ", . <FILE')";
  else if (names_columns())
    hint = " (does the first row name the columns? --header)";
  else if (stands_for_nothing(text))
    hint = " (if it stands for a missing value: --na '" + std::string(text) +
           "' with --missing skip or fill:0)";
  else if (table_.is_first() && is_label)
    hint = " (without --regression labels may be names of classes)";
  else if (table_.is_first() && is_date(text))
    hint =
        " (--drop leaves the column out; of dates make numbers, as month and "
        "weekday)";
  else if (table_.is_first())
    hint =
        " (--drop or --id if the column is no feature; of words make columns "
        "of 0 and 1)";
  return table_.place(column) + "want a number, got '" + clipped(text) + "'" +
         hint;
}

// To fill one in would be to invent what is to be learnt, or what belongs
// together.
std::string CsvFields::missing_name(const std::string& what, std::size_t column,
                                    bool& skip) const {
  skip = missing_.kind == MissingRule::kSkip;
  if (skip) return "";
  // A class or a name may be such a word, a number may not.
  const std::string text(table_.field(column));
  const std::string taken =
      text.empty() || options_.regression
          ? ""
          : ", --na '' takes '" + clipped(text) + "' as it is";
  return table_.place(column) + "the " + what + " is missing" +
         (missing_.kind == MissingRule::kFill
              ? ", and " + what +
                    "s are not filled in (--missing skip or "
                    "--max-bad leaves the row out)"
              : " (--missing skip leaves the row out" + taken + ")");
}

std::string CsvFields::targets(bool& skip) {
  for (std::size_t t = 0; t < labels_.size(); ++t) {
    std::string problem =
        number(label_row_, static_cast<std::int64_t>(t), labels_[t], skip);
    if (skip || !problem.empty()) return problem;
  }
  return "";
}

std::string CsvFields::class_label(bool& skip) {
  const std::string_view text = table_.field(labels_[0]);
  if (missing_.words.contains(text))
    return missing_name("label", labels_[0], skip);
  const std::int64_t index = classes_.index(text);
  if (index < 0) return table_.place(labels_[0]) + classes_.complaint(text);
  label_row_.as<std::int32_t>()[0] = static_cast<std::int32_t>(index);
  return "";
}

std::string CsvFields::weight(bool& skip) {
  const std::string_view text = table_.field(*weight_);
  if (missing_.words.contains(text))
    return missing_name("weight", *weight_, skip);
  double value = 0;
  const bool is_number = parse_number(text, value);
  weight_value_ = static_cast<float>(value);
  return is_number && weight_value_ >= 0 && std::isfinite(weight_value_)
             ? ""
             : table_.place(*weight_) + "want a weight, a number from 0 on, " +
                   "got '" + clipped(text) + "'";
}

std::string CsvFields::id() {
  id_text_ = table_.field(*id_);
  if (id_text_.empty()) return table_.place(*id_) + "the id is missing";
  if (!is_utf8(id_text_))
    return table_.place(*id_) + not_utf8("the id", id_text_);
  if (static_cast<std::int64_t>(id_text_.size()) > id_bytes_)
    return table_.place(*id_) + "the id '" + clipped(id_text_) + "' has " +
           std::to_string(id_text_.size()) + " bytes, --id-bytes is " +
           std::to_string(id_bytes_);
  return "";
}

void CsvFields::put_features(data::DataSet& set, std::int64_t i) const {
  put(set.tensors.at("features"), i, features_row_.bytes());
}

void CsvFields::put_label(data::DataSet& set, std::int64_t i) const {
  if (!labels_.empty()) put(set.tensors.at("labels"), i, label_row_.bytes());
  if (weight_)
    put(set.tensors.at("labels_mask"), i,
        std::as_bytes(std::span(&weight_value_, 1)));
}

void CsvFields::put_id(data::DataSet& set, std::int64_t i) const {
  if (!id_) return;
  std::string text = id_text_;
  text.resize(static_cast<std::size_t>(id_bytes_), '\0');
  put(set.tensors.at("id"), i, std::as_bytes(std::span(text)));
}

}  // namespace dl::vectorize
