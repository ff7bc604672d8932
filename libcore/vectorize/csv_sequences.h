// CSV tables whose rows are the steps of sequences.

#ifndef DL_LIBCORE_VECTORIZE_CSV_SEQUENCES_H_
#define DL_LIBCORE_VECTORIZE_CSV_SEQUENCES_H_

#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// csv.sequence is set.  The reader remembers the name of every sequence, as a
// digest, to find one whose rows are not neighbors: some 50 bytes each.
// Throws Error: kUsage, kNoInput, kData.
std::unique_ptr<Reader> open_csv_sequences(
    const std::vector<std::string>& inputs, const ReaderOptions& options,
    const CsvOptions& csv, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_SEQUENCES_H_
