#include "libcore/vectorize/csv_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/source/encoding.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

char parse_delimiter(const std::string& text) {
  if (!is_delimiter(text))
    throw Error{Code::kUsage, "--delimiter: want one character (or \\t)"};
  return text == "\\t" ? '\t' : text[0];
}

}  // namespace

bool is_delimiter(const std::string& text) {
  return text == "\\t" ||
         (text.size() == 1 && text != "\"" && text != "\n" && text != "\r");
}

CsvTable::CsvTable(std::vector<std::string> inputs, CsvDialect dialect, For use)
    : inputs_(std::move(inputs)),
      dialect_(std::move(dialect)),
      delimiter_(parse_delimiter(dialect_.delimiter)),
      use_(use) {
  if (!dialect_.encoding.empty()) check_encoding(dialect_.encoding);
  open_next();
}

void CsvTable::open_next() {
  input_.emplace(inputs_[opened_++], delimiter_, RawInput::Kind::kTable,
                 dialect_.encoding, dialect_.mark_wins);
  if (const std::string marked = input_->input().marked_encoding();
      dialect_.log && !marked.empty())
    dialect_.log(Level::kInfo,
                 name() + " is " + marked + ", as its byte order mark says");
  at_start_ = true;
  for (InputBlock block; input_->next(block, 1);) {
    CsvRows row(block, block.delimiter);
    if (!row.next()) continue;  // empty lines
    check_delimiter(row);
    if (has_header()) return read_header(row);
    if (names_.empty()) names_.resize(row.size());
    return input_->put_back(block);
  }
  input_->input().refuse_empty();
}

void CsvTable::read_header(const CsvRows& row) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < row.size(); ++i) {
    names.emplace_back(csv_field(row, i));
    if (!is_utf8(names.back()))
      throw Error{Code::kData, row.place() + ", column " +
                                   std::to_string(i + 1) + ": " +
                                   not_utf8("the name", names.back())};
  }
  if (names_.empty() || use_ == For::kRecipe)
    names_ = std::move(names);
  else
    match(names);
}

// Finds the columns of the first file in another one.
void CsvTable::match(const std::vector<std::string>& names) {
  order_ = nullptr;
  if (names == names_) return;
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!places.emplace(names[i], i).second)
      bad_data(name() +
               ": has another header than the files before it, and "
               "two columns " +
               in_quotes(names[i]));
  std::vector<std::size_t> order;
  for (const std::string& wanted : names_) {
    const auto found = places.find(wanted);
    if (found == places.end())
      bad_data(name() + ": has no column " + in_quotes(wanted) +
               ", as the files before it have");
    order.push_back(found->second);
  }
  for (const std::string& own : names)
    if (std::ranges::find(names_, own) == names_.end())
      bad_data(name() + ": has a column " + in_quotes(own) +
               ", which the files before it do not have");
  if (order.size() != names.size())
    bad_data(name() + ": has another header than the files before it");
  order_ = std::make_shared<const std::vector<std::size_t>>(std::move(order));
}

// A table of one column that holds what separates the columns of others.
void CsvTable::check_delimiter(const CsvRows& row) const {
  if (row.size() != 1) return;
  for (const char other : {';', '\t', ',', '|'})
    if (csv_field(row, 0).find(other) != std::string_view::npos) {
      const std::string shown = other == '\t' ? "\\t" : std::string(1, other);
      bad_data(row.place() + ": has one column, with '" + shown + "' in it" +
               (use_ == For::kOptions
                    ? " (--delimiter '" + shown + "'?)"
                    : ", where " + in_quotes(std::string(1, delimiter_)) +
                          " separates columns (sep=" + shown +
                          " as the first line says otherwise)"));
    }
}

bool CsvTable::cut(InputBlock& block, std::int64_t most) {
  while (!input_->next(block, most)) {
    input_->input().close();
    if (opened_ == inputs_.size()) return false;
    open_next();
  }
  block.first = std::exchange(at_start_, false);
  block.order = order_;
  block.input = opened_ - 1;
  return true;
}

std::string CsvTable::place(const InputBlock& block, std::int64_t line,
                            std::size_t column) const {
  const std::size_t own = block.order ? (*block.order)[column] : column;
  std::string text = block.name + ", line " + std::to_string(line) +
                     ", column " + std::to_string(own + 1);
  if (has_header()) text += " ('" + clipped(names_[column]) + "')";
  return text + ": ";
}

std::size_t CsvTable::find(const std::string& word, const char* option,
                           bool in_list) const {
  if (has_header()) {
    const auto found = std::find(names_.begin(), names_.end(), word);
    const auto more = found == names_.end()
                          ? found
                          : std::find(found + 1, names_.end(), word);
    if (more != names_.end())
      throw Error{Code::kUsage,
                  std::string(option) + ": " + name() + " has two columns '" +
                      displayed(word) + "', " +
                      std::to_string(found - names_.begin() + 1) + " and " +
                      std::to_string(more - names_.begin() + 1) +
                      "; give the number"};
    if (found != names_.end())
      return static_cast<std::size_t>(found - names_.begin());
  }
  const auto count = static_cast<std::int64_t>(names_.size());
  std::int64_t number = 0;
  const bool is_number = parse_integer(word, number);
  if (is_number) {
    if (number >= 1 && number <= count)
      return static_cast<std::size_t>(number - 1);
    if (number <= -1 && number >= -count)
      return static_cast<std::size_t>(count + number);
  }
  std::string near = nearest(word, names_);
  // A name with a comma that was taken for several.
  for (const std::string& name : names_)
    if (name.starts_with(word + ",")) near = name;
  const std::string quoted = in_list ? list_word(near) : near;
  std::string hint = "did you mean '" + displayed(quoted) + "'" +
                     (quoted == near ? "?" : ", in these quotes?");
  if (near.empty()) {
    hint = "it has " + std::to_string(count);
    if (!has_header() && !is_number) hint += "; names want --header";
  }
  throw Error{Code::kUsage, std::string(option) + ": " + name() +
                                " has no column '" + displayed(word) + "' (" +
                                hint + ")"};
}

}  // namespace dl::vectorize
