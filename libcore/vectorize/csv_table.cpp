#include "libcore/vectorize/csv_table.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

char parse_delimiter(const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r")
    throw Error{Code::kUsage, "--delimiter: want one character (or \\t)"};
  return text[0];
}

}  // namespace

CsvTable::CsvTable(std::vector<std::string> inputs,
                   const std::string& delimiter, bool header)
    : inputs_(std::move(inputs)),
      delimiter_(parse_delimiter(delimiter)),
      header_(header) {
  open_next();
}

void CsvTable::open_next() {
  input_ = std::make_unique<RawInput>(inputs_[opened_.size()],
                                      RawInput::Kind::kText);
  opened_.push_back(input_->name());
  rows_.emplace(*input_, delimiter_);
  row_ = 0;
  pending_ = next_row();
  if (!pending_) input_->refuse_empty();
  check_delimiter();
  if (header_)
    read_header();
  else if (names_.empty())
    names_.resize(rows_->size());
}

void CsvTable::read_header() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size(); ++i) {
    names.emplace_back(field(i));
    if (!is_utf8(names.back()))
      throw Error{Code::kData, place() + ", column " + std::to_string(i + 1) +
                                   ": " + not_utf8("the name", names.back())};
  }
  if (!names_.empty() && names != names_)
    throw Error{Code::kData,
                name() + ": has another header than the files before it"};
  names_ = std::move(names);
  pending_ = false;
}

// A table of one column that holds what separates the columns of others.
void CsvTable::check_delimiter() const {
  if (size() != 1) return;
  for (const char other : {';', '\t', ',', '|'})
    if (field(0).find(other) != std::string_view::npos) {
      const std::string shown = other == '\t' ? "\\t" : std::string(1, other);
      throw Error{Code::kData, place() + ": has one column, with '" +
                                   displayed(shown) + "' in it (--delimiter '" +
                                   displayed(shown) + "'?)"};
    }
}

bool CsvTable::next_row() {
  if (!rows_->next()) return false;
  ++row_;
  return true;
}

bool CsvTable::next() {
  while (!pending_ && !next_row()) {
    input_->close();
    if (opened_.size() == inputs_.size()) return false;
    open_next();
  }
  pending_ = false;
  return true;
}

std::string_view CsvTable::field(std::size_t i) const {
  return trim(rows_->field(i));
}

CsvTable::Place CsvTable::here() const {
  return {static_cast<std::uint32_t>(opened_.size() - 1), rows_->line()};
}

std::string CsvTable::place(const Place& place) const {
  return opened_[place.file] + ", line " + std::to_string(place.line);
}

std::string CsvTable::place(std::size_t column) const {
  std::string text = place() + ", column " + std::to_string(column + 1);
  if (header_) text += " ('" + clipped(names_[column]) + "')";
  return text + ": ";
}

std::size_t CsvTable::find(const std::string& word, const char* option,
                           bool in_list) const {
  if (header_) {
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
    if (!header_ && !is_number) hint += "; names want --header";
  }
  throw Error{Code::kUsage, std::string(option) + ": " + name() +
                                " has no column '" + displayed(word) + "' (" +
                                hint + ")"};
}

}  // namespace dl::vectorize
