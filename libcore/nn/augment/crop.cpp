// Cuts out pictures of their own size, at a place drawn, from padded ones.

#include <algorithm>
#include <cstring>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kModes[] = {"constant", "edge", "reflect",
                                       "symmetric"};
enum class Mode { kConstant, kEdge, kReflect, kSymmetric };

// The row or column of 0..n-1 that stands at `i` of the padded picture; -1: the
// fill.
std::int64_t source_of(std::int64_t i, std::int64_t n, Mode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case Mode::kConstant:
      return -1;
    case Mode::kEdge:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    case Mode::kReflect:
      return i < 0 ? -i : 2 * (n - 1) - i;
    case Mode::kSymmetric:
      return i < 0 ? -i - 1 : 2 * n - 1 - i;
  }
  return -1;
}

class Crop final : public AugmentStep {
 public:
  explicit Crop(const LayerSettings& settings)
      : padding_(settings.integer("padding")),
        fill_(static_cast<std::uint8_t>(settings.integer("fill"))) {
    const auto mode = std::ranges::find(kModes, settings.text("padding_mode"));
    mode_ = static_cast<Mode>(mode - std::begin(kModes));
  }

  void apply(Sample& sample, Philox& random, Room&) const override {
    const auto places = static_cast<std::uint64_t>(2 * padding_ + 1);
    const auto down = static_cast<std::int64_t>(random.below(places));
    const auto right = static_cast<std::int64_t>(random.below(places));
    for (Canvas& canvas : sample.pictures)
      cut(canvas, down - padding_, right - padding_,
          &canvas == sample.pictures.data() ? fill_ : 0);
  }

 private:
  // Moves the picture up and to the left.
  void cut(Canvas& canvas, std::int64_t up, std::int64_t left,
           std::uint8_t fill) const {
    const Picture &from = canvas.picture(), &to = canvas.next();
    const std::int64_t size = from.channels;
    const std::int64_t begin = std::max<std::int64_t>(0, -left),
                       end = std::min(from.width, from.width - left);
    for (std::int64_t y = 0; y < to.height; ++y) {
      std::uint8_t* out = to.row(y);
      const std::int64_t in = source_of(y + up, from.height, mode_);
      if (in < 0) {
        std::memset(out, fill, static_cast<std::size_t>(to.stride()));
        continue;
      }
      const std::uint8_t* row = from.row(in);
      if (begin < end)
        std::memcpy(out + begin * size, row + (begin + left) * size,
                    static_cast<std::size_t>((end - begin) * size));
      const auto pad = [&](std::int64_t x) {
        const std::int64_t source = source_of(x + left, from.width, mode_);
        if (source < 0)
          std::memset(out + x * size, fill, static_cast<std::size_t>(size));
        else
          copy_pixel<0>(out + x * size, row + source * size, size);
      };
      for (std::int64_t x = 0; x < begin; ++x) pad(x);
      for (std::int64_t x = std::max(begin, end); x < to.width; ++x) pad(x);
    }
    canvas.turn();
  }

  std::int64_t padding_;
  std::uint8_t fill_;
  Mode mode_;
};

void check_crop(const LayerSettings& settings, const tensor::Shape& shape,
                const Complaint& complain) {
  const std::int64_t least = std::min(shape[0], shape[1]);
  const bool mirrors = settings.text("padding_mode") == "reflect";
  if (settings.integer("padding") > least - (mirrors ? 1 : 0))
    complain("padding", "is more than the picture " + shape.to_string() +
                            (mirrors ? " has to reflect" : " measures"));
}

}  // namespace

const AugmentType& crop() {
  static const AugmentType type{
      .name = "crop",
      .words =
          "Pads the picture on all sides and cuts a picture of its own size "
          "out of that,\nat a place drawn.",
      .other_names = {"randomcrop", "padandcrop"},
      .keys = {key::integer("padding", "4", "Pixels added to each side.",
                            "1..65535"),
               key::one_of("padding_mode", R"("constant")",
                           "Pixels beyond the edge: *fill*, those of the edge, "
                           "or the picture mirrored, without its edge or with "
                           "it.",
                           kModes),
               fill_key(), chance("1")},
      .check = check_crop,
      .make = make_step<Crop>};
  return type;
}

}  // namespace dl::nn::augment
