// Sums over pixels, which are exact in whole numbers.

#ifndef DL_LIBCORE_DATA_STATISTICS_PIXEL_SUMS_H_
#define DL_LIBCORE_DATA_STATISTICS_PIXEL_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dl::data {

// Sums and range of one channel.
struct PixelSums {
  std::uint64_t sum = 0, squares = 0;
  std::uint8_t min = 255, max = 0;

  // The sum of squared deviations from the mean of so many values.
  double spread(std::uint64_t count) const;
};

// One of each channel.  channels: 1 or 3.
std::vector<PixelSums> sums_of_pixels(const std::uint8_t* values,
                                      std::size_t pixels, std::size_t channels);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_PIXEL_SUMS_H_
