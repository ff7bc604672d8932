#include "libcore/vectorize/analysis/propose.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Classes of a category that become columns; the others are one together.
constexpr std::size_t kMostClasses = 50;

std::string share_missing(const ColumnProfile& column) {
  return counted(column.missing(), "value") + " missing";
}

// Part of a recipe, and what is said of it.
struct ProposedPart {
  Json part;  // null: the column is left out
  std::string sentence;
};

bool differ_in_from_alone(const Json& one, const Json& other) {
  return one.size() == other.size() &&
         std::ranges::all_of(one.items(), [&](const auto& entry) {
           return entry.key() == "from" ||
                  (other.contains(entry.key()) &&
                   other.at(entry.key()) == entry.value());
         });
}

// As of times in milliseconds since 1970 within some minutes.
bool are_one_float(const ColumnProfile& column) {
  const auto lowest = static_cast<float>(column.min());
  return column.max() > column.min() &&
         std::nextafter(lowest, std::numeric_limits<float>::infinity()) >=
             static_cast<float>(column.max());
}

std::string about_commas(const ColumnProfile& column) {
  return column.looks_like_comma_numbers() ? std::string("; ") + kCommaNumbers
                                           : "";
}

class Proposal {
 public:
  Proposal(const TableProfile& table, const TableChoices& choices,
           const Json& source)
      : table_(table), choices_(choices), source_(source) {
    if (choices.label != "none")
      for (const std::string& word : split_list(choices.label, "--label"))
        labels_.push_back(&table.find(word, "--label"));
    if (!choices.drop.empty())
      for (const std::string& word : split_list(choices.drop, "--drop"))
        dropped_.push_back(&table.find(word, "--drop"));
    if (!choices.id.empty()) id_ = &table.find(choices.id, "--id");
    for (const ColumnProfile* label : labels_) {
      if (std::ranges::count(dropped_, label) > 0)
        bad_usage("--drop: " + in_quotes(label->name()) + " is one of --label");
      if (label == id_)
        bad_usage("--id: " + in_quotes(label->name()) + " is one of --label");
    }
  }

  ProposedRecipe made() {
    Json features = Json::array(), tensors = Json::object();
    ProposedRecipe proposed;
    if (!labels_.empty()) tensors["labels"] = labels();
    for (const ColumnProfile& column : table_.columns) {
      ProposedPart part;
      if (&column == id_) {
        tensors["id"] = id();
        part.sentence = id_sentence();
      } else if (std::ranges::count(labels_, &column) > 0) {
        part.sentence = label_sentence_ + about_commas(column);
      } else if (std::ranges::count(dropped_, &column) > 0) {
        part.sentence = "ignored, as --drop says";
      } else {
        part = feature(column);
      }
      proposed.columns.emplace_back(column.name(), part.sentence);
      if (!part.part.is_null()) add(features, part.part);
    }
    if (features.empty()) refuse_all();
    tensors["features"] = features.size() == 1 ? features[0] : features;
    proposed.recipe = {{"source", source_}, {"tensors", tensors}};
    return proposed;
  }

 private:
  [[noreturn]] void refuse_all() const {
    const auto& all = table_.columns;
    const auto commas =
        std::ranges::find_if(all, &ColumnProfile::looks_like_comma_numbers);
    bad_data(
        "no column is left to learn from: all are constant, ids, text, "
        "without a name, or named by --label, --id and --drop" +
        (commas == all.end()
             ? ""
             : "; of " + in_quotes(commas->name()) + " " + kCommaNumbers));
  }

  Json na(const ColumnProfile& column) const {
    std::vector<std::string> words = table_.missing_words;
    for (const std::string& word : column.strays()) words.push_back(word);
    return words;
  }

  // Columns of numbers beside each other that go alike are one part.
  static void add(Json& features, const Json& part) {
    if (!features.empty() && part["type"] == "number" &&
        differ_in_from_alone(features.back(), part))
      features.back()["from"].push_back(part["from"][0]);
    else
      features.push_back(part);
  }

  ProposedPart feature(const ColumnProfile& column) const {
    ProposedPart part = feature_by_type(column);
    if (column.has_mixed_dates())
      part.sentence +=
          "; most values look like dates, of several formats: bring them to "
          "one first";
    part.sentence += about_commas(column);
    return part;
  }

  ProposedPart feature_by_type(const ColumnProfile& column) const {
    if (column.name().empty()) return {nullptr, "ignored: has no name"};
    switch (column.type()) {
      case ColumnType::kEmpty:
        return {nullptr, "ignored: has no values"};
      case ColumnType::kConstant:
        return {nullptr,
                "ignored: always '" + clipped(column.top(1).at(0).first) + "'"};
      case ColumnType::kId:
        return {nullptr,
                "ignored: looks like an id, every row has one of its own"};
      case ColumnType::kText:
        return {nullptr, "ignored: text, " + distinct_text(column) +
                             " different values"};
      case ColumnType::kInteger:
      case ColumnType::kNumber:
        if (are_one_float(column))
          return {nullptr,
                  "ignored: its numbers differ by less than features of 32 "
                  "bits can tell apart"};
        return number(column);
      case ColumnType::kBoolean:
        return boolean(column);
      case ColumnType::kDate:
        return date(column);
      case ColumnType::kCategory:
        break;
    }
    return category(column);
  }

  static std::string distinct_text(const ColumnProfile& column) {
    return column.is_counted()
               ? std::to_string(column.distinct())
               : "over " + std::to_string(ColumnProfile::kMostValues);
  }

  // Where something is missing, a column of the part tells where.
  static void fill_missing(const ColumnProfile& column, const char* fill,
                           Json& part, std::string& sentence) {
    const std::vector<std::string> strays = column.strays();
    if (column.missing() == 0 && strays.empty()) return;
    for (const std::string& word : strays)
      sentence += ", " + in_quotes(word) + " taken as missing";
    if (column.missing() > 0) sentence += ", " + share_missing(column);
    part["indicator"] = true;
    sentence += std::string(": the ") + fill + ", with an indicator";
  }

  ProposedPart number(const ColumnProfile& column) const {
    // A median of very many different values is too much to learn.
    const char* fill = column.is_counted() ? "median" : "mean";
    Json part = {{"type", "number"},
                 {"from", {column.name()}},
                 {"missing", fill},
                 {"na", na(column)}};
    std::string sentence(name_of(column.type()));
    if (column.has_long_integers())
      sentence +=
          ", of which integers from 2^53 on are rounded (a name of "
          "things is for --id or --drop)";
    fill_missing(column, fill, part, sentence);
    return {part, sentence};
  }

  ProposedPart boolean(const ColumnProfile& column) const {
    Json part = {{"type", "number"},
                 {"from", {column.name()}},
                 {"missing", "most_frequent"},
                 {"na", na(column)}};
    std::string sentence = "boolean";
    for (const bool truth : {true, false})
      if (const auto words = column.words(truth); !words.empty()) {
        part[truth ? "true" : "false"] = words;
        for (const std::string& word : words)
          sentence += ", " + in_quotes(word) + (truth ? " is 1" : " is 0");
      }
    fill_missing(column, "most frequent", part, sentence);
    return {part, sentence};
  }

  ProposedPart date(const ColumnProfile& column) const {
    Json parts = {"days", "month", "weekday"};
    if (column.has_time()) parts.push_back("hour");
    Json part = {{"type", "date"},
                 {"from", column.name()},
                 {"format", column.date_format()},
                 {"parts", parts},
                 {"missing", "median"},
                 {"na", na(column)}};
    std::string sentence = std::string("date ") + column.date_format();
    if (column.has_other_date_format())
      sentence += " (day and month may be swapped: see \"format\")";
    sentence += column.has_time() ? ": days, month, weekday, hour"
                                  : ": days, month, weekday";
    fill_missing(column, "median", part, sentence);
    return {part, sentence};
  }

  ProposedPart category(const ColumnProfile& column) const {
    const bool is_cut = column.distinct() > kMostClasses;
    // A column for others learns nothing where training has none.
    const bool has_others = is_cut || column.missing() > 0;
    Json part = {{"type", "category"},
                 {"from", column.name()},
                 {"encode", "one_hot"},
                 {"unknown", has_others ? "other" : "zeros"},
                 {"na", na(column)}};
    std::string sentence = "category, " + distinct_text(column) +
                           (column.distinct() == 1 ? " class" : " classes");
    if (is_cut) {
      part["most"] = kMostClasses;
      sentence += ": one-hot of the " + std::to_string(kMostClasses) +
                  " most frequent, and of all others";
    } else {
      sentence += has_others ? ": one-hot, with a place for others"
                             : ": one-hot, others are zeros";
    }
    if (column.missing() > 0) sentence += ", " + share_missing(column);
    return {part, sentence};
  }

  Json id() const {
    constexpr std::size_t kLeast = 32, kMost = 65536;
    const std::size_t bytes = std::bit_ceil(std::max(id_->longest(), kLeast));
    return {{"type", "id"},
            {"from", id_->name()},
            {"bytes", std::min(bytes, kMost)}};
  }
  std::string id_sentence() const {
    const auto most = id_->top(1);
    if (most.empty() || most[0].second == 1) return "id of the examples";
    return "id of the examples, though " + in_quotes(most[0].first) +
           " is there " + std::to_string(most[0].second) + " times";
  }

  // Numbers to predict, or a class.
  Json labels() {
    return labels_.size() > 1 && choices_.classes.empty() ? number_labels()
           : is_number_to_predict(*labels_[0], choices_)
               ? number_labels()
               : class_label(*labels_[0]);
  }

  Json number_labels() {
    Json from = Json::array();
    for (const ColumnProfile* label : labels_) {
      const ColumnType type = label->type();
      if (type != ColumnType::kInteger && type != ColumnType::kNumber)
        bad_usage("--label: " + in_quotes(label->name()) +
                  " is no number to predict (" + std::string(name_of(type)) +
                  ")" + about_commas(*label));
      from.push_back(label->name());
    }
    label_sentence_ = "label, a number to predict";
    return {{"type", "number"}, {"from", from}, {"na", table_.missing_words}};
  }

  Json class_label(const ColumnProfile& label) {
    constexpr std::size_t kMostLabels = 1000;
    if (labels_.size() > 1) bad_usage("--label: several columns are numbers");
    const bool given = !choices_.classes.empty();
    if (!given && (label.distinct() < 2 || label.distinct() > kMostLabels ||
                   label.type() == ColumnType::kDate))
      bad_usage("--label: " + in_quotes(label.name()) + " is no class (" +
                std::string(name_of(label.type())) + ", " +
                distinct_text(label) +
                " different values); of other classes than the data have "
                "--classes tells" +
                about_commas(label));
    const std::vector<std::string> classes =
        given ? ClassLabels(choices_.classes).names() : label.sorted_values();
    for (const std::string& name : classes)
      if (!is_utf8(name)) bad_data("--label: " + not_utf8("the class", name));
    if (!given) refuse_twins(label, classes);
    constexpr std::size_t kShown = 6;
    label_sentence_ = "label, " + std::to_string(classes.size()) + " classes";
    for (std::size_t i = 0; i < std::min(classes.size(), kShown); ++i)
      label_sentence_ += (i == 0 ? ": " : ", ") + clipped(classes[i]);
    if (classes.size() > kShown) label_sentence_ += ", ...";
    return {{"type", "category"},
            {"from", label.name()},
            {"classes", classes},
            {"na", table_.missing_words}};
  }

  // Classes are told apart by their texts, and 1 and 1.0 are one number.
  static void refuse_twins(const ColumnProfile& label,
                           const std::vector<std::string>& classes) {
    for (std::size_t i = 1; i < classes.size(); ++i) {
      double before = 0, own = 0;
      if (parse_number(classes[i - 1], before) &&
          parse_number(classes[i], own) && before == own)
        bad_data("the label " + in_quotes(label.name()) + " has " +
                 in_quotes(classes[i - 1]) + " and " + in_quotes(classes[i]) +
                 ", which are one number: write them alike, or tell the "
                 "classes by --classes");
    }
  }

  const TableProfile& table_;
  const TableChoices& choices_;
  const Json& source_;
  std::vector<const ColumnProfile*> labels_, dropped_;
  const ColumnProfile* id_ = nullptr;
  std::string label_sentence_;
};

}  // namespace

bool is_number_to_predict(const ColumnProfile& label,
                          const TableChoices& choices) {
  constexpr std::size_t kMostNumbers = 20;
  if (!choices.classes.empty()) return false;
  return choices.regression || label.type() == ColumnType::kNumber ||
         (label.type() == ColumnType::kInteger &&
          label.distinct() > kMostNumbers);
}

ProposedRecipe propose_recipe(const TableProfile& table,
                              const TableChoices& choices, const Json& source) {
  return Proposal(table, choices, source).made();
}

}  // namespace dl::vectorize
