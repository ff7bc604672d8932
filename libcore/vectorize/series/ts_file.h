// Files of the UCR and UEA archives of time series (.ts), an example a line.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_TS_FILE_H_
#define DL_LIBCORE_VECTORIZE_SERIES_TS_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// Series become [steps, dimensions], ragged where they are of different
// lengths.  steps: of the longest; 0: as the files say.
// `bad` must outlive the reader.  Throws Error: kUsage, kNoInput, kData.
std::unique_ptr<Reader> open_ts(const std::vector<std::string>& inputs,
                                const ReaderOptions& options,
                                std::int64_t steps, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_TS_FILE_H_
