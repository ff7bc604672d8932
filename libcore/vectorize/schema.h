// The shape of an example of a reader, and how large it and a record of them
// may be: the memory of every reader is bounded by this, whatever its input
// claims.

#ifndef DL_LIBCORE_VECTORIZE_SCHEMA_H_
#define DL_LIBCORE_VECTORIZE_SCHEMA_H_

#include <cstdint>
#include <map>
#include <string>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::vectorize {

using Schema = std::map<std::string, data::Field>;  // by tensor name

// Each column has its statistics in the metadata, which have a limit.
constexpr std::int64_t kMaxColumns = std::int64_t{1} << 18;
// Limit of an example, and of a record that holds more than one.
constexpr std::int64_t kMaxBytes = std::int64_t{128} << 20;

// How many examples a record holds: `batch`, or as many as kMaxBytes take.
// Throws Error: kData, one example is over kMaxBytes, or its last dimension
// over kMaxColumns.
std::int64_t record_examples(std::int64_t batch, const Schema& schema);

// Type of stored targets: F32, or F64 where what they are read as has values
// that F32 cannot hold.
tensor::DType target_type(tensor::DType read_as);

// n examples of zeros, of encoded tensors none yet in their stored form.
data::DataSet make_record(const Schema& schema, std::int64_t n);

// Makes zeros of example i again.
void clear_example(data::DataSet& set, std::int64_t i);

// The tensor "index": the number of each example in the input, from 0, which
// tells where it came from when others were left out.
inline const data::Field kIndexField = {tensor::DType::kI64, {}};
void set_index(data::DataSet& set, std::int64_t i, std::int64_t index);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SCHEMA_H_
