// Loops over pixels of one, three or any number of bytes.

#ifndef DL_LIBCORE_NN_AUGMENT_PIXELS_H_
#define DL_LIBCORE_NN_AUGMENT_PIXELS_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

// A function compiled for processors with AVX-512, with AVX2 and for all.  All
// give the same bytes, since none fuses multiplication and addition.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define DL_WIDE_LOOP \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define DL_WIDE_LOOP
#endif

namespace dl::nn::augment {

// Calls body with the number as a constant where loops for it pay, else 0.
template <typename Body>
void for_channels(std::int64_t channels, const Body& body) {
  if (channels == 1) return body(std::integral_constant<int, 1>());
  if (channels == 3) return body(std::integral_constant<int, 3>());
  if (channels == 4) return body(std::integral_constant<int, 4>());
  body(std::integral_constant<int, 0>());
}

// kChannels: 0, those of `channels`.
template <int kChannels>
void copy_pixel(std::uint8_t* to, const std::uint8_t* from,
                std::int64_t channels) {
  std::memcpy(to, from,
              kChannels > 0 ? std::size_t{kChannels}
                            : static_cast<std::size_t>(channels));
}

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_PIXELS_H_
