#include "libcore/vectorize/analysis/table_profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/io/digest.h"
#include "libcore/vectorize/recipe/records_digest.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class TableProfiling {
 public:
  explicit TableProfiling(std::vector<std::string> missing_words) {
    table_.missing_words = std::move(missing_words);
    missing_.insert(table_.missing_words.begin(), table_.missing_words.end());
    missing_.insert("");
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
    std::vector<bool> seen(table_.columns.size());
    for (std::size_t i = 0; i < record.columns.size(); ++i) {
      const std::string& name = record.columns.name(i);
      if (name == kPlaceColumn) continue;
      const std::size_t place = place_of_column(name);
      seen.resize(table_.columns.size());
      const std::string_view text = trim(record.columns.value(i));
      table_.columns[place].see(text, missing_.contains(text));
      seen[place] = true;
    }
    if (table_.rows < TableProfile::kMostCompared) compare(record);
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!seen[i]) table_.columns[i].see("", true);
    ++table_.rows;
  }

  TableProfile take() && { return std::move(table_); }

 private:
  std::size_t place_of_column(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, table_.columns.size());
    if (!is_new) return found->second;
    ColumnProfile& column = table_.columns.emplace_back(name);
    column.see_missing(table_.rows);
    return found->second;
  }

  void compare(const Record& record) {
    io::Digest digest;
    record_digest_.add_to(digest, record.columns);
    if (!digests_.insert(digest.value()).second) ++table_.duplicates;
  }

  TableProfile table_;
  std::unordered_set<std::uint64_t> digests_;
  ColumnsDigest record_digest_;
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
