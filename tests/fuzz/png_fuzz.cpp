// Pictures in PNG, and masks.

#include "tests/fuzz/picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const dl::vectorize::PictureFormat kMask = {
      "mask", dl::vectorize::kPng.is, dl::vectorize::read_png_numbers, nullptr};
  dl::vectorize::fuzz(kMask, data, size);
  return dl::vectorize::fuzz(dl::vectorize::kPng, data, size);
}
