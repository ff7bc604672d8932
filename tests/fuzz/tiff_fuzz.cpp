// Pictures in TIFF.

#include "tests/fuzz/picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  return dl::vectorize::fuzz(dl::vectorize::kTiff, data, size);
}
