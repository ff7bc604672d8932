// The way in which the rows of tables are cut into sequences, as --sequence
// has it: COLUMN, file:, lines:N, line:TEXT.

#ifndef DL_LIBCORE_VECTORIZE_SEQUENCE_CUT_H_
#define DL_LIBCORE_VECTORIZE_SEQUENCE_CUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/csv_rows.h"

namespace dl::vectorize {

struct SequenceCut {
  enum Way {
    kNone,    // rows are no steps
    kColumn,  // neighbors with the same text in a column
    kFile,    // a file
    kLines,   // so many rows of a file
    kLine     // up to a line with a text, or up to an empty one
  } way = kNone;
  std::int64_t lines = 0;
  std::string text;

  // Throws Error: kUsage.
  explicit SequenceCut(const std::string& option);
  // Whether a row is what separates two sequences.
  bool is_separator(const CsvRows& row) const;
};

// Names the sequences of blocks that come in order, but for those of a column.
class SequenceNames {
 public:
  explicit SequenceNames(const SequenceCut& cut) : cut_(cut) {}
  // Fills parsed.sequences.
  void put(ParsedBlock& parsed);

 private:
  SequenceCut cut_;
  std::size_t input_ = 0;
  std::int64_t rows_ = 0, cuts_ = 0;  // of the input
  bool is_cut_ = false;               // a separator came behind the last row
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SEQUENCE_CUT_H_
