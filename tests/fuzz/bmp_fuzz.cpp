// Pictures in BMP.

#include "tests/fuzz/picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  return dl::vectorize::fuzz(dl::vectorize::kBmp, data, size);
}
