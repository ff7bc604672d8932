// An example on its way through the steps of augmentation.

#ifndef DL_LIBCORE_NN_AUGMENT_SAMPLE_H_
#define DL_LIBCORE_NN_AUGMENT_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/philox.h"

namespace dl::nn {

// Bytes [height, width, channels]; pixels of labels have as many channels as
// bytes.
struct Picture {
  std::uint8_t* at = nullptr;
  std::int64_t height = 0, width = 0, channels = 0;

  std::int64_t stride() const { return width * channels; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(height * stride());
  }
  std::uint8_t* row(std::int64_t y) const { return at + y * stride(); }
  std::span<std::uint8_t> all() const { return {at, bytes()}; }
};

// A picture, and as much memory again for steps that do not work in place.
class Canvas {
 public:
  Canvas(Picture picture, std::vector<std::uint8_t>& spare)
      : now_(picture), next_(picture), home_(picture.at) {
    if (spare.size() < picture.bytes()) spare.resize(picture.bytes());
    next_.at = spare.data();
  }
  const Picture& picture() const { return now_; }
  // The place of a new picture, which turn() makes the picture.
  const Picture& next() const { return next_; }
  void turn() { std::swap(now_, next_); }
  // Puts the picture where it was at first.
  void finish();

 private:
  Picture now_, next_;
  std::uint8_t* home_;
};

struct Sample {
  // Pixels of features first.  Labels, and their mask, that have a place for
  // each pixel move along.
  std::vector<Canvas> pictures;
  const Picture& picture() const { return pictures[0].picture(); }
};

// Memory of a thread, kept from example to example.
struct Room {
  Sample sample;
  std::vector<std::vector<std::uint8_t>> spare;  // of each picture
  std::vector<std::int32_t> numbers;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint16_t> sums;
  std::vector<std::int16_t> words;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_AUGMENT_SAMPLE_H_
