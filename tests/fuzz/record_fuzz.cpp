// The contents of a frame: safetensors blob and metadata.  Checksums keep a
// fuzzer of whole streams from getting here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/format/record.h"

constexpr std::uint64_t kMost = 1 << 22;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  try {
    const dl::data::Record record =
        dl::data::decode_record(std::as_bytes(std::span(data, size)));
    // A record that was decoded must survive being written and read again.
    std::vector<std::byte> blob;
    dl::data::encode_record(record.metadata, record.set, blob);
    const dl::data::Record again = dl::data::decode_record(blob);
    if (again.metadata != record.metadata ||
        again.set.tensors.size() != record.set.tensors.size())
      __builtin_trap();
    if (record.metadata.empty()) return 0;
    const dl::data::Metadata metadata =
        dl::data::Metadata::from_strings(record.metadata);
    dl::data::DataSet set = record.set;
    dl::data::decode(set, metadata.schema, kMost);
    metadata.check(set);
    // Also what was decoded, from its stored form.
    dl::data::encode_record(record.metadata, set, blob);
    dl::data::DataSet stored = dl::data::decode_record(blob).set;
    dl::data::decode(stored, metadata.schema, kMost);
    if (stored.tensors.size() != set.tensors.size()) __builtin_trap();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) __builtin_trap();
  }
  return 0;
}
