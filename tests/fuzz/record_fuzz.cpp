// The contents of a frame: safetensors blob and metadata.  Checksums keep a
// fuzzer of whole streams from getting here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/format/record.h"

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
    if (!record.metadata.empty())
      dl::data::Metadata::from_strings(record.metadata).check(record.set);
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) __builtin_trap();
  }
  return 0;
}
