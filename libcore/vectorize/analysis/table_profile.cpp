#include "libcore/vectorize/analysis/table_profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class TableProfiling {
 public:
  explicit TableProfiling(std::vector<std::string> missing_words) {
    table_.missing_words = std::move(missing_words);
    missing_.insert(table_.missing_words.begin(), table_.missing_words.end());
    for (const std::string& word : missing_)
      longest_missing_ = std::max(longest_missing_, word.size());
  }

  // Columns in the order of a file, those of files behind it after them.
  void add(const std::vector<std::string>& names) {
    for (const std::string& name : names) (void)place_of_column(name);
  }
  void declare_words(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      table_.columns[place_of_column(name)].declare_words();
  }

  void see(const Record& record) {
    if (record.columns.names() != names_ ||
        record.columns.size() != places_of_record_.size())
      place(record);
    if (placed_ < table_.columns.size())
      seen_.assign(table_.columns.size(), false);
    const bool compares = table_.rows < TableProfile::kMostCompared;
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < record.columns.size(); ++i) {
      const std::size_t place = places_of_record_[i];
      if (place == kNoPlace) continue;
      const std::string_view text = trim(record.columns.value(i));
      const std::uint64_t own = value_digest(text);
      table_.columns[place].see(text, is_missing(text), own);
      // The sum does not depend on the order of the columns.
      const std::uint64_t salted = own ^ salts_[place];
      if (compares) digest += salted * (salted >> 32 | 1);
      if (!seen_.empty()) seen_[place] = true;
    }
    if (compares && !digests_.insert(digest).second) ++table_.duplicates;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (!seen_[i]) table_.columns[i].see("", true);
    seen_.clear();
    ++table_.rows;
  }

  TableProfile take() && {
    for (ColumnProfile& column : table_.columns) column.settle();
    return std::move(table_);
  }

 private:
  std::size_t place_of_column(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, table_.columns.size());
    if (!is_new) return found->second;
    ColumnProfile& column = table_.columns.emplace_back(name);
    column.see_missing(table_.rows);
    return found->second;
  }

  // Where the columns of records with these names go.
  void place(const Record& record) {
    names_ = record.columns.names();
    places_of_record_.clear();
    placed_ = 0;
    for (std::size_t i = 0; i < record.columns.size(); ++i)
      places_of_record_.push_back(
          record.columns.name(i) == kPlaceColumn
              ? kNoPlace
              : place_of_column(record.columns.name(i)));
    for (const std::size_t place : places_of_record_)
      placed_ += place == kNoPlace ? 0 : 1;
    for (std::size_t i = salts_.size(); i < table_.columns.size(); ++i)
      salts_.push_back(value_digest(table_.columns[i].name()));
  }

  bool is_missing(std::string_view text) const {
    return text.empty() ||
           (text.size() <= longest_missing_ && missing_.contains(text));
  }

  static constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

  TableProfile table_;
  std::unordered_set<std::uint64_t> digests_;
  RecordColumns::Names names_;  // of the record before
  std::vector<std::size_t> places_of_record_;
  std::size_t placed_ = 0;            // of them that are columns
  std::vector<std::uint64_t> salts_;  // of the columns
  std::vector<bool> seen_;            // columns, where a record lacks some
  std::size_t longest_missing_ = 0;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::set<std::string, std::less<>> missing_;
};

}  // namespace

const ColumnProfile& TableProfile::find(const std::string& word,
                                        const char* option) const {
  const auto found = std::ranges::find(columns, word, &ColumnProfile::name);
  if (found != columns.end()) return *found;
  std::int64_t number = 0;
  const std::int64_t count = std::ssize(columns);
  if (parse_integer(word, number) && number != 0 && number <= count &&
      number >= -count)
    return columns[static_cast<std::size_t>(number > 0 ? number - 1
                                                       : count + number)];
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const ColumnProfile& column : columns) names.push_back(column.name());
  const std::string near = nearest(word, names);
  bad_usage(std::string(option) + ": there is no column " + in_quotes(word) +
            (near.empty() ? "; there are " + std::to_string(count)
                          : "; did you mean " + in_quotes(near) + "?"));
}

void TableProfile::merge(const TableProfile& next) {
  std::map<std::string, std::size_t, std::less<>> places;
  for (std::size_t i = 0; i < columns.size(); ++i)
    places.emplace(columns[i].name(), i);
  std::vector<bool> seen(columns.size());
  for (const ColumnProfile& column : next.columns) {
    const auto [found, is_new] = places.emplace(column.name(), columns.size());
    if (is_new) columns.emplace_back(column.name()).see_missing(rows);
    if (!is_new) seen[found->second] = true;
    columns[found->second].merge(column);
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) columns[i].see_missing(next.rows);
  rows += next.rows;
  duplicates += next.duplicates;
}

Json TableProfile::state() const {
  Json all = Json::array();
  for (const ColumnProfile& column : columns) all.push_back(column.state());
  return {{"rows", rows},
          {"duplicates", duplicates},
          {"missing_words", missing_words},
          {"columns", std::move(all)}};
}

TableProfile TableProfile::of_state(const JsonView& json) {
  TableProfile table;
  table.rows = json.at("rows").integer(1, std::int64_t{1} << 53);
  table.duplicates = json.at("duplicates").integer(0, table.rows);
  table.missing_words = json.at("missing_words").strings();
  const JsonView columns = json.at("columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    table.columns.push_back(ColumnProfile::of_state(columns.at(i)));
    if (table.columns.back().rows() != table.rows)
      columns.at(i).at("rows").fail(std::to_string(table.rows));
  }
  return table;
}

TableProfile profile_table(RecordSource& source,
                           std::vector<std::string> missing_words,
                           BadRecords& bad) {
  TableProfiling profiling(std::move(missing_words));
  profiling.add(source.columns());
  profiling.declare_words(source.words());
  for (Record record; source.next(record);)
    if (record.problem.empty())
      profiling.see(record);
    else
      bad.add(record.place() + ": " + record.problem);
  TableProfile table = std::move(profiling).take();
  if (table.rows == 0) bad_data("there is no row in the table");
  return table;
}

}  // namespace dl::vectorize
