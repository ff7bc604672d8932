// From the stored form of a record to tensors of one shape, and back.

#ifndef DL_LIBCORE_DATA_FORMAT_DECODE_H_
#define DL_LIBCORE_DATA_FORMAT_DECODE_H_

#include <cstdint>
#include <map>
#include <string>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

// Whether any tensor is stored encoded.
bool has_encoded(const std::map<std::string, Field>& schema);
// The encoded ones alone.
std::map<std::string, Field> encoded_part(
    const std::map<std::string, Field>& schema);

// Schema of the decoded examples.  Ragged features get a mask.
std::map<std::string, Field> plain_schema(
    const std::map<std::string, Field>& schema);

// An empty stored form of such a tensor.
Encoded encoded_like(const Field& field);

// Takes the encoded tensors of a record as it was stored, NAME and
// NAME.offsets, to set.encoded, and puts NAME in their place, decoded: pictures
// as their pixels, sequences padded with zeros to the length that the schema
// has, with a mask.
// limit: of the bytes of a decoded tensor.
// Throws Error: kData, they are damaged, or not as the schema says.
void decode(DataSet& set, const std::map<std::string, Field>& schema,
            std::uint64_t limit = kMaxRecordBytes);

// Puts the decoded tensors of set.encoded into the set.  Throws as decode().
void add_decoded(DataSet& set, const std::map<std::string, Field>& schema,
                 std::uint64_t limit = kMaxRecordBytes);

// Puts the ragged tensors of `schema` into set.encoded: the steps of each
// sequence that features_mask says are there, one at least.
void strip_padding(DataSet& set, const std::map<std::string, Field>& schema);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_DECODE_H_
