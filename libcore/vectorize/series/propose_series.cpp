#include "libcore/vectorize/series/propose_series.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using Words = std::vector<std::string>;

// Numbers that are different in all rows may be an id for tables.
bool is_number(const ColumnProfile& column) {
  if (column.type() != ColumnType::kId)
    return column.type() == ColumnType::kInteger ||
           column.type() == ColumnType::kNumber;
  return column.are_nearly_numbers();
}

// The form that most times of a column have, which is told of the others row by
// row; "": there is none.
std::string usual_time_format(const ColumnProfile& column) {
  constexpr std::size_t kLooked = 100;
  std::map<std::string, std::int64_t> counts;
  std::int64_t all = 0;
  for (const auto& [text, count] : column.top(kLooked)) {
    all += count;
    double value = 0;
    if (parse_number(text, value)) {
      counts[SeriesSettings::kNumberFormat] += count;
      continue;
    }
    for (const char* format : known_date_formats())
      if (DateFormat(format).parse(text)) {
        counts[format] += count;
        break;
      }
  }
  for (const auto& [format, count] : counts)
    if (2 * count > all) return format;
  return "";
}

// A word as split_list() reads it.
std::string listed_word(const std::string& word) {
  std::string quoted = "\"";
  for (const char c : word)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class SeriesProposal {
 public:
  SeriesProposal(const TableProfile& table, const SeriesChoices& choices)
      : table_(table), choices_(choices), settings_(choices.settings) {
    if (settings_.contains("time")) time_ = take("time", "--time");
    if (settings_.contains("key")) key_ = take("key", "--key");
    if (choices.label != "none") labels_ = names(choices.label, "--label");
    known_ = names(choices.known, "--known");
    fixed_ = names(choices.fixed, "--static");
    is_class_ = !choices.classes.empty() ||
                (labels_.size() == 1 && !is_number(column(labels_[0])) &&
                 column(labels_[0]).type() != ColumnType::kConstant);
    for (const std::string& label : labels_)
      for (const Words* others : {&known_, &fixed_})
        if (std::ranges::count(*others, label) > 0)
          bad_usage("--label: " + in_quotes(label) +
                    " is also known ahead, or static");
  }

  ProposedRecipe made(const Json& source) {
    ProposedRecipe proposed;
    take_time(proposed);
    Json parts = features(proposed, source);
    Json tensors = Json::object();
    const bool is_split = !known_.empty() || !fixed_.empty();
    Json past = Json::array();
    if (!is_class_ && !labels_.empty()) past.push_back(numbers(labels_));
    for (const Json& part : without(parts, fixed_)) past.push_back(part);
    if (!choices_.calendar.empty()) past.push_back(calendar());
    if (past.empty())
      bad_data(
          "no column is left to learn from: all are constant, ids or "
          "text");
    tensors[is_split ? "features/past" : "features"] = alone(past);
    if (!known_.empty()) {
      Json ahead = of(parts, known_, "--known");
      if (!choices_.calendar.empty()) ahead.push_back(calendar());
      tensors["features/known"] = alone(ahead);
    }
    if (!fixed_.empty())
      tensors["features/static"] = alone(of(parts, fixed_, "--static"));
    if (!labels_.empty())
      tensors["labels"] = is_class_ ? class_of(source) : numbers(labels_);
    if (is_class_ && !settings_.contains("horizon")) settings_["horizon"] = 0;
    proposed.recipe = {
        {"source", source}, {"series", settings_}, {"tensors", tensors}};
    return proposed;
  }

 private:
  const ColumnProfile& column(const std::string& name) const {
    return table_.find(name, "--label");
  }
  std::string take(const char* key, const char* option) {
    settings_[key] =
        table_.find(settings_[key].get<std::string>(), option).name();
    return settings_[key];
  }
  Words names(const std::string& list, const char* option) const {
    Words all;
    if (list.empty()) return all;
    for (const std::string& word : split_list(list, option))
      all.push_back(table_.find(word, option).name());
    return all;
  }

  void take_time(ProposedRecipe& proposed) {
    if (time_.empty()) {
      if (!choices_.calendar.empty())
        bad_usage("--calendar wants --time COLUMN");
      return;
    }
    const ColumnProfile& time = table_.find(time_, "--time");
    const bool is_given = settings_.contains("time_format");
    if (!is_given && is_number(time))
      settings_["time_format"] = "number";
    else if (!is_given && time.date_format() != nullptr)
      settings_["time_format"] = time.date_format();
    else if (const std::string usual = is_given ? "" : usual_time_format(time);
             !usual.empty())
      settings_["time_format"] = usual;
    else if (!is_given)
      bad_usage("--time: " + in_quotes(time_) + " is no date and no number (" +
                std::string(name_of(time.type())) + ")");
    // Series that lie beside each other, whose rows steps would average.
    const auto times = static_cast<std::int64_t>(time.distinct());
    const bool has_twins = key_.empty() && settings_.contains("every") &&
                           time.is_counted() && 2 * times <= time.present();
    proposed.columns.emplace_back(
        time_,
        "time, " + settings_["time_format"].get<std::string>() +
            (has_twins ? "; " + std::to_string(time.present()) + " rows have " +
                             std::to_string(times) +
                             " times, and rows of one time become one: is "
                             "there a column that tells series apart (--key)?"
                       : ""));
  }

  Json numbers(const Words& columns) const {
    for (const std::string& name : columns)
      if (!is_number(column(name)) &&
          column(name).type() != ColumnType::kConstant)
        bad_usage("--label: " + in_quotes(name) + " is no number to predict (" +
                  std::string(name_of(column(name).type())) + ")");
    return {{"type", "number"},
            {"from", columns},
            {"missing", "keep"},
            {"na", table_.missing_words}};
  }

  Json class_of(const Json& source) const {
    TableChoices choices;
    choices.label = listed_word(labels_[0]);
    choices.classes = choices_.classes;
    const auto proposed = propose_recipe(table_, choices, source);
    return proposed.recipe["tensors"]["labels"];
  }

  Json calendar() const {
    return {{"type", "date"},
            {"from", time_},
            {"format", settings_["time_format"]},
            {"parts", split_list(choices_.calendar, "--calendar")}};
  }

  // None: no other column has anything to learn from.
  std::optional<ProposedRecipe> proposed_without(const std::string& dropped,
                                                 const Json& source) const try {
    TableChoices choices;
    choices.drop = dropped;
    return propose_recipe(table_, choices, source);
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;
    return std::nullopt;
  }

  // Vectorizers that the other columns ask for, an array.
  Json features(ProposedRecipe& proposed, const Json& source) const {
    std::string dropped, dropped_others;
    std::size_t left = table_.columns.size();
    std::set<std::string> out = {time_, key_};
    out.insert(labels_.begin(), labels_.end());
    if (!choices_.drop.empty())
      for (const std::string& word : names(choices_.drop, "--drop"))
        out.insert(word);
    for (const std::string& name : out) {
      if (name.empty()) continue;
      const std::string word = listed_word(name);
      dropped += (dropped.empty() ? "" : ",") + word;
      if (std::ranges::count(labels_, name) == 0)
        dropped_others += (dropped_others.empty() ? "" : ",") + word;
      --left;
    }
    for (const std::string& label : labels_)
      proposed.columns.emplace_back(
          label, is_class_ ? "label, a class" : "number, to be predicted");
    if (!key_.empty()) proposed.columns.emplace_back(key_, "key of the series");
    if (left == 0) return Json::array();
    std::optional<ProposedRecipe> others = proposed_without(dropped, source);
    const bool is_any = others.has_value();
    // With the labels among them there is what tells of those ignored.
    if (!is_any) others = proposed_without(dropped_others, source);
    if (!others) return Json::array();
    for (const auto& column : others->columns)
      if (!out.contains(column.first)) proposed.columns.push_back(column);
    if (!is_any) return Json::array();
    Json parts = others->recipe["tensors"]["features"];
    if (!parts.is_array()) parts = Json::array({parts});
    for (Json& part : parts)
      if (part["type"] == "number") {
        part["missing"] = "keep";
        part.erase("indicator");
      }
    return parts;
  }

  // The parts of these columns.
  static Json of(const Json& parts, const Words& columns, const char* option) {
    Json taken = Json::array();
    for (const std::string& name : columns) {
      const std::size_t before = taken.size();
      for (const Json& part : parts) {
        Json own = part;
        if (part["from"].is_array()) {
          if (std::ranges::find(part["from"], Json(name)) == part["from"].end())
            continue;
          own["from"] = {name};
        } else if (part["from"] != name) {
          continue;
        }
        taken.push_back(own);
      }
      if (taken.size() == before)
        bad_usage(std::string(option) + ": nothing can be learnt of " +
                  in_quotes(name));
    }
    return taken;
  }

  static Json without(const Json& parts, const Words& columns) {
    Json taken = Json::array();
    for (const Json& part : parts) {
      Json own = part;
      if (!part["from"].is_array()) {
        if (std::ranges::count(columns, part["from"].get<std::string>()) == 0)
          taken.push_back(own);
        continue;
      }
      own["from"] = Json::array();
      for (const Json& name : part["from"])
        if (std::ranges::count(columns, name.get<std::string>()) == 0)
          own["from"].push_back(name);
      if (!own["from"].empty()) taken.push_back(own);
    }
    return taken;
  }

  static Json alone(const Json& parts) {
    return parts.size() == 1 ? parts[0] : parts;
  }

  const TableProfile& table_;
  const SeriesChoices& choices_;
  Json settings_;
  std::string time_, key_;
  Words labels_, known_, fixed_;
  bool is_class_ = false;
};

}  // namespace

ProposedRecipe propose_series(const TableProfile& table,
                              const SeriesChoices& choices,
                              const Json& source) {
  return SeriesProposal(table, choices).made(source);
}

}  // namespace dl::vectorize
