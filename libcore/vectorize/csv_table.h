// The rows of one or more CSV files, whose columns are found by their names.

#ifndef DL_LIBCORE_VECTORIZE_CSV_TABLE_H_
#define DL_LIBCORE_VECTORIZE_CSV_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/text_blocks.h"

namespace dl::vectorize {

// Whether a text is one character that can separate fields, or "\\t".
bool is_delimiter(const std::string& text);

// How the files of a table are written.
struct CsvDialect {
  std::string delimiter = ",";  // as the option has it
  bool header = true;           // the first row of each file names the columns
  std::string encoding = {};    // as is_encoding() knows it; "": UTF-8
  Log log = {};  // told of files whose byte order mark says another; or none
  bool mark_wins = false;  // over the encoding; else that is an error
};

class CsvTable {
 public:
  enum class For {
    kOptions,  // files behind the first one have its columns, in any order
    kRecipe    // each has its own, and messages name no options
  };
  // inputs: source specs, one at least.
  // Throws Error: kUsage, the delimiter or encoding is none; kNoInput; kData,
  // an input is empty, or seems to have another delimiter or encoding.
  explicit CsvTable(std::vector<std::string> inputs, CsvDialect dialect,
                    For use = For::kOptions);

  // The next block of rows, `most` at most; false at the end of the last input.
  // Throws Error: kData, what CsvRows throws of a first row; other columns.
  bool cut(InputBlock& block, std::int64_t most);

  // Names of the columns; "" without a header.  kRecipe: of the block cut last.
  const std::vector<std::string>& names() const { return names_; }
  bool has_header() const { return dialect_.header; }
  // The column that a name, or a number from 1 (-1: the last), means.
  // Throws Error: kUsage, there is none, or more than one has the name;
  // `option` asked for it, in_list: as one of several.
  std::size_t find(const std::string& word, const char* option,
                   bool in_list) const;

  // "'a.csv', line 7, column 3 ('age'): "
  std::string place(const InputBlock& block, std::int64_t line,
                    std::size_t column) const;
  std::string place(const CsvRows& row, std::size_t column) const {
    return place(row.block(), row.line(), column);
  }
  const std::string& name() const { return input_->name(); }

 private:
  void open_next();
  void read_header(const CsvRows& row);
  void match(const std::vector<std::string>& names);
  void check_delimiter(const CsvRows& row) const;

  std::vector<std::string> inputs_;
  CsvDialect dialect_;
  char delimiter_;
  For use_;
  std::size_t opened_ = 0;
  std::optional<TextBlocks> input_;
  bool at_start_ = true;  // of the data of the current file
  std::vector<std::string> names_;
  std::shared_ptr<const std::vector<std::size_t>> order_;  // InputBlock's
};

// The field without the blanks around it.
inline std::string_view csv_field(const CsvRows& row, std::size_t i) {
  return trim(row.field(i));
}

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_TABLE_H_
