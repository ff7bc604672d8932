// Columns of records that hold numbers as text.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COLUMNS_H_
#define DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COLUMNS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/record.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/word_set.h"

namespace dl::vectorize {

class NumberColumns {
 public:
  // settings: of a vectorizer, whose keys na, missing, true and false count.
  // Throws Error: kConfig, a word is true and false.
  NumberColumns(std::vector<std::string> columns,
                const RecipeSettings& settings);

  const std::vector<std::string>& columns() const { return columns_; }

  // None: it is missing.  Throws Error: kData, it is no number, or beyond the
  // range of 32 bits.
  std::optional<double> value(const Record& record, std::size_t i) const;
  // The same of a text that column i has.
  std::optional<double> value_of(std::string_view text, std::size_t i) const;

 private:
  std::vector<std::string> columns_;
  std::vector<ColumnOfRecords> places_;
  MissingWords words_;
  WordSet true_, false_;
  std::array<bool, 256> starts_word_{};  // first bytes of all these words
  bool has_number_words_ = false;        // among these words
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COLUMNS_H_
