#include "libcore/vectorize/analysis/dialect.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/source/decimal_comma.h"
#include "libcore/vectorize/source/thousands.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Whole lines from the start of a file.
InputBlock first_rows(const std::string& file, const std::string& encoding) {
  constexpr std::size_t kEnough = std::size_t{1} << 18;
  RawInput input(file, RawInput::Kind::kTable, encoding);
  InputBlock block;
  block.name = input.name();
  while (block.bytes.size() < kEnough &&
         input.append(block.bytes, kEnough - block.bytes.size())) {
  }
  if (block.bytes.size() == kEnough)
    block.bytes.resize(block.bytes.rfind('\n') + 1);
  return block;
}

// Columns that most rows have; 0: they differ.
std::size_t columns_of(const InputBlock& block, char delimiter) {
  std::size_t columns = 0;
  std::int64_t rows = 0, others = 0;
  try {
    for (CsvRows row(block, delimiter); row.next(); ++rows) {
      if (rows == 0) columns = row.size();
      if (row.size() != columns) ++others;
    }
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;  // a quote that the cut left open
  }
  constexpr std::int64_t kMostOthers = 10;  // one row of so many
  return others * kMostOthers > rows ? 0 : columns;
}

// The ways in which numbers of a column have commas and points.
struct CommasSeen {
  bool points = false;    // alone, as 3.14
  bool decimals = false;  // maybe, as 3,14 and 1,234
  bool groups = false;    // maybe thousands, as 1,234
  bool thousands = false;
  bool others = false;  // no thousands, as 3,14

  void see(std::string_view field) {
    if (has_decimal_point(field)) points = true;
    if (field.find(',') == std::string_view::npos) return;
    if (!with_decimal_point(field).empty()) decimals = true;
    if (!without_thousands(field).empty()) groups = true;
    if (are_surely_thousands(field)) thousands = true;
    if (has_other_commas(field)) others = true;
  }
  bool are_thousands(bool may_be_decimals) const {
    return !others && (thousands || (groups && !may_be_decimals));
  }
};

}  // namespace

CommaColumns find_commas(const std::string& file, const std::string& delimiter,
                         const std::string& encoding, bool decimals) {
  const InputBlock block = first_rows(file, encoding);
  std::vector<std::string> names;
  std::vector<CommasSeen> columns;
  try {
    for (CsvRows row(block, delimiter == "\\t" ? '\t' : delimiter[0]);
         row.next();) {
      if (names.empty())
        for (std::size_t i = 0; i < row.size(); ++i)
          names.emplace_back(csv_field(row, i));
      columns.resize(names.size());
      for (std::size_t i = 0; i < std::min(row.size(), names.size()); ++i)
        columns[i].see(csv_field(row, i));
    }
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;  // a quote that the cut left open
  }
  CommaColumns found;
  found.are_in_all =
      std::ranges::find(columns, true, &CommasSeen::points) == columns.end();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].are_thousands(decimals))
      found.thousands.push_back(names[i]);
    else if (columns[i].decimals && !columns[i].points && decimals)
      found.decimals.push_back(names[i]);
  found.are_in_all = found.are_in_all && found.thousands.empty();
  return found;
}

std::string find_delimiter(const std::string& file,
                           const std::string& encoding) {
  const InputBlock block = first_rows(file, encoding);
  std::size_t most = 1;
  std::string best = ",";
  for (const char delimiter : {',', ';', '\t', '|'})
    if (const std::size_t columns = columns_of(block, delimiter);
        columns > most) {
      most = columns;
      best = delimiter == '\t' ? "\\t" : std::string(1, delimiter);
    }
  return best;
}

}  // namespace dl::vectorize
