// From a reader of raw files to a DataSet stream.

#ifndef DL_LIBCORE_VECTORIZE_PREPROCESS_H_
#define DL_LIBCORE_VECTORIZE_PREPROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/io/sink.h"
#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// Writes all that `reader` gives: metadata, records, then metadata again with
// the classes and statistics that only the whole pass knows.  Returns the
// number of examples.  progress: called after each record with the number so
// far.  expected: how many examples the input has; 0: any number.  threads:
// these gather statistics and compress, one of them at a time reads; the bytes
// are the same for any number.
//
// Throws Error: kData, there is not one good example, or another number than
// expected; what reader and sink throw.  Then the sink's file does not appear.
std::int64_t preprocess(Reader& reader, std::unique_ptr<io::Sink> sink,
                        const std::optional<data::Provenance>& provenance,
                        const std::function<void(std::int64_t)>& progress,
                        std::int64_t expected = 0, int threads = 1);

// A digest of the names, sizes and times of the files that `inputs` name, for
// the provenance; "" if one of them is no regular file, or is so young that it
// could still change without a change of these.
std::string digest_of(const std::vector<std::string>& inputs);

// The examples of `output` if it was made by `step`, with the same inputs: then
// there is nothing to do.  None whenever that cannot be known (the step has no
// digest of inputs, the stream has no provenance, ...).
std::optional<std::int64_t> current_examples(const std::string& output,
                                             const data::Provenance& step);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_PREPROCESS_H_
