#include "libcore/vectorize/analysis/dialect.h"

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/source/decimal_comma.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Whole lines from the start of a file.
InputBlock first_rows(const std::string& file) {
  constexpr std::size_t kEnough = std::size_t{1} << 18;
  RawInput input(file, RawInput::Kind::kText);
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

bool has_decimal_commas(const std::string& file, const std::string& delimiter) {
  if (delimiter == ",") return false;
  const InputBlock block = first_rows(file);
  bool any = false;
  try {
    for (CsvRows row(block, delimiter == "\\t" ? '\t' : delimiter[0]);
         row.next();)
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string_view field = csv_field(row, i);
        if (has_decimal_point(field)) return false;
        any = any || (field.find(',') != std::string_view::npos &&
                      !with_decimal_point(field).empty());
      }
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;  // a quote that the cut left open
  }
  return any;
}

std::string find_delimiter(const std::string& file) {
  const InputBlock block = first_rows(file);
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
