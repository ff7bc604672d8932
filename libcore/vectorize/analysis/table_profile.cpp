#include "libcore/vectorize/analysis/table_profile.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/parallel.h"
#include "libcore/vectorize/analysis/digest_set.h"
#include "libcore/vectorize/analysis/row_texts.h"
#include "libcore/vectorize/table/word_set.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class TableProfiling {
 public:
  TableProfiling(std::vector<std::string> missing_words, int threads)
      : missing_(missing_words), team_(threads) {
    table_.missing_words = std::move(missing_words);
    missing_.add("");
  }

  // Columns in the order of a file, those of files behind it after them.
  void add(const std::vector<std::string>& names) {
    for (const std::string& name : names) (void)place_of_column(name);
  }
  void declare_words(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      table_.columns[place_of_column(name)].declare_words();
  }

  // Sees all rows of a source: blocks of them are read side by side, then their
  // columns, so that each column sees its rows in their order.
  void see(RecordSource& source, BadRecords& bad) {
    constexpr int kMostBlocks = 16;  // bounds memory
    const auto most = static_cast<std::size_t>(
        source.gives_rows() ? std::min(team_.size(), kMostBlocks) : 1);
    for (NextRows next(source);;) {
      std::vector<std::unique_ptr<RecordSource::Rows>> cut;
      std::exception_ptr error;  // comes behind what was cut
      try {
        while (cut.size() < most)
          if (auto rows = next())
            cut.push_back(std::move(rows));
          else
            break;
      } catch (...) {
        error = std::current_exception();
      }
      if (cut.empty() && !error) return;
      std::vector<std::optional<RowTexts>> blocks(cut.size());
      side_by_side(cut.size(), [&](std::size_t i) {
        blocks[i].emplace(std::move(cut[i]));
      });
      see(blocks, bad);
      if (error) std::rethrow_exception(error);
    }
  }

  TableProfile take() && {
    side_by_side(table_.columns.size(),
                 [&](std::size_t i) { table_.columns[i].settle(); });
    table_.repeated_input = repeated_input();
    return std::move(table_);
  }

 private:
  void side_by_side(std::size_t count,
                    const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    team_.run([&](int) {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  }

  std::size_t place_of_column(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, table_.columns.size());
    if (!is_new) return found->second;
    ColumnProfile& column = table_.columns.emplace_back(name);
    column.see_missing(table_.rows);
    return found->second;
  }

  void see(const std::vector<std::optional<RowTexts>>& blocks,
           BadRecords& bad) {
    // Cells of each column, by block; null: it has none there.
    std::vector<std::vector<const RowTexts::Column*>> cells(
        table_.columns.size());
    std::int64_t rows = 0, compared = table_.rows;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const RowTexts::Column& column : blocks[b]->columns()) {
        if (column.name == kPlaceColumn) continue;
        const std::size_t place = place_of_column(column.name);
        if (place >= cells.size()) cells.resize(place + 1);
        cells[place].resize(blocks.size());
        cells[place][b] = &column;
      }
      rows += blocks[b]->rows();
      for (const std::string& problem : blocks[b]->problems()) bad.add(problem);
      if (blocks[b]->error()) std::rethrow_exception(blocks[b]->error());
    }
    // The last task is the longest one of many tables, and begins first.
    side_by_side(cells.size() + 1, [&](std::size_t i) {
      if (i > 0) return see_column(i - 1, cells[i - 1], blocks);
      for (const auto& block : blocks) {
        compared +=
            compare(block->digests(), TableProfile::kMostCompared - compared);
        enter_input(*block);
      }
    });
    table_.rows += rows;
  }

  // Compares no more rows than that with all before them.
  std::int64_t compare(std::span<const std::uint64_t> digests,
                       std::int64_t most) {
    digests = digests.first(static_cast<std::size_t>(
        std::clamp<std::int64_t>(most, 0, std::ssize(digests))));
    table_.duplicates += digests_.add(digests);
    return std::ssize(digests);
  }

  // Whether rows of inputs are all the same shows in their digests.
  void enter_input(const RowTexts& rows) {
    if (inputs_.empty() || inputs_.back().name != rows.input() ||
        rows.line() <= inputs_.back().line)
      inputs_.push_back({rows.input(), 0, 0, 0});
    InputRows& input = inputs_.back();
    input.line = rows.line();
    input.rows += rows.rows();
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd
    for (const std::uint64_t digest : rows.digests())
      input.digest = (input.digest ^ digest) * kFactor;
  }
  std::string repeated_input() const {
    std::set<std::pair<std::int64_t, std::uint64_t>> seen;
    for (const InputRows& input : inputs_)
      if (input.rows > 0 && !seen.emplace(input.rows, input.digest).second)
        return input.name;
    return "";
  }

  void see_column(std::size_t place,
                  const std::vector<const RowTexts::Column*>& cells,
                  const std::vector<std::optional<RowTexts>>& blocks) {
    ColumnProfile& column = table_.columns[place];
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (b < cells.size() && cells[b] != nullptr)
        for (const auto& [text, digest] : cells[b]->cells)
          column.see(text, missing_.contains(text), digest);
      else
        column.see_missing(blocks[b]->rows());
  }

  struct InputRows {
    std::string name;
    std::int64_t line, rows;  // that was seen last, and how many
    std::uint64_t digest;
  };

  TableProfile table_;
  std::vector<InputRows> inputs_;
  DigestSet digests_;
  std::map<std::string, std::size_t, std::less<>> places_;
  WordSet missing_;
  ThreadTeam team_;
};

}  // namespace

const ColumnProfile* TableProfile::find(const std::string& name) const {
  const auto found = std::ranges::find(columns, name, &ColumnProfile::name);
  return found == columns.end() ? nullptr : &*found;
}

const ColumnProfile& TableProfile::find(const std::string& word,
                                        const char* option) const {
  if (const ColumnProfile* found = find(word)) return *found;
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
                           BadRecords& bad, int threads) {
  TableProfiling profiling(std::move(missing_words), threads);
  profiling.add(source.columns());
  profiling.declare_words(source.words());
  profiling.see(source, bad);
  TableProfile table = std::move(profiling).take();
  if (table.rows == 0) bad_data("there is no row in the table");
  return table;
}

}  // namespace dl::vectorize
