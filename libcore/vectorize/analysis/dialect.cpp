#include "libcore/vectorize/analysis/dialect.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/source/decimal_comma.h"
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

}  // namespace

DecimalCommas find_decimal_commas(const std::string& file,
                                  const std::string& delimiter,
                                  const std::string& encoding) {
  DecimalCommas found;
  if (delimiter == ",") return found;
  const InputBlock block = first_rows(file, encoding);
  std::vector<std::string> names;
  std::vector<bool> commas, points;
  try {
    for (CsvRows row(block, delimiter == "\\t" ? '\t' : delimiter[0]);
         row.next();) {
      if (names.empty())
        for (std::size_t i = 0; i < row.size(); ++i)
          names.emplace_back(csv_field(row, i));
      commas.resize(names.size());
      points.resize(names.size());
      for (std::size_t i = 0; i < std::min(row.size(), names.size()); ++i) {
        const std::string_view field = csv_field(row, i);
        if (has_decimal_point(field)) points[i] = true;
        if (field.find(',') != std::string_view::npos &&
            !with_decimal_point(field).empty())
          commas[i] = true;
      }
    }
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;  // a quote that the cut left open
  }
  found.is_in_all = std::ranges::find(points, true) == points.end();
  for (std::size_t i = 0; i < commas.size(); ++i)
    if (commas[i] && !points[i]) found.columns.push_back(names[i]);
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
