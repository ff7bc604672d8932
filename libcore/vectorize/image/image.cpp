// The vectorizer image: a picture file to [height, width, channels] of bytes.

#include <cstring>

#include "libcore/base/error.h"
#include "libcore/data/jpeg.h"
#include "libcore/vectorize/image/decode.h"
#include "libcore/vectorize/image/fit.h"
#include "libcore/vectorize/image/formats.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kFits[] = {"crop", "pad", "stretch"};
constexpr std::string_view kFilters[] = {"nearest", "bilinear", "bicubic",
                                         "lanczos"};
constexpr std::string_view kColors[] = {"rgb", "grey", "bgr"};
constexpr std::string_view kStores[] = {"u8", "jpeg"};
enum class Color { kRgb, kGrey, kBgr };

constexpr std::string_view kSuffixes[] = {
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".tif", ".tiff",
    ".gif", ".bmp",  ".dib", ".pbm",  ".pgm", ".ppm",  ".pnm"};

// As Pillow weighs red, green and blue.
std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>(
      (rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}

void make_grey(const Picture& in, Picture& out) {
  out.reshape(in.width, in.height, 1);
  for (std::size_t i = 0; i < out.pixels.size(); ++i)
    out.pixels[i] = grey_of(in.pixels.data() + 3 * i);
}

class ImageVectorizer : public Vectorizer {
 public:
  explicit ImageVectorizer(const RecipeSettings& settings)
      : column_(settings.text("from")),
        color_(static_cast<Color>(settings.word("color", kColors))) {
    const auto size = settings.integers("size");
    fit_.height = size[0];
    fit_.width = size[1];
    fit_.fit = static_cast<Fit>(settings.word("fit", kFits));
    fit_.filter = static_cast<Filter>(settings.word("interpolation", kFilters));
    fit_.shorter = settings.has("shorter") ? settings.integer("shorter") : 0;
    if (fit_.shorter > 0 && fit_.fit != Fit::kCrop)
      bad_config("shorter is for fit crop");
    limits_.max_pixels = settings.integer("max_pixels");
    scaled_ = settings.flag("scaled_decoding");
    jpeg_ = settings.has("store") && settings.word("store", kStores) == 1;
    if (settings.has("quality"))
      quality_ = static_cast<int>(settings.integer("quality"));
    if (jpeg_ && color_ == Color::kBgr)
      bad_config("store jpeg is for color rgb and grey");
  }

  data::Field field() const override {
    return {tensor::DType::kU8,
            {fit_.height, fit_.width, channels()},
            jpeg_ ? data::Encoding::kJpeg : data::Encoding::kNone};
  }

  struct Buffers : Workspace {
    explicit Buffers(const FitOptions& options) : fitter(options) {}
    Picture picture, grey;
    Fitter fitter;
    std::vector<std::uint8_t> small;
    std::vector<std::byte> jpeg;
  };
  std::unique_ptr<Workspace> workspace() const override {
    return std::make_unique<Buffers>(fit_);
  }

  void put(const Record& record, std::int64_t, Workspace* workspace,
           std::span<std::byte> out) const override {
    auto& own = static_cast<Buffers&>(*workspace);
    const std::string_view file = record.at(column_);
    if (!jpeg_) return put_pixels(file, own, out);
    if (keeps(file, out)) {
      own.width = fit_.width;
      own.height = fit_.height;
      const auto bytes = std::as_bytes(std::span(file));
      own.jpeg.assign(bytes.begin(), bytes.end());
      return;
    }
    put_pixels(file, own, out);
    data::write_jpeg(
        {reinterpret_cast<const std::uint8_t*>(out.data()), out.size()},
        field().shape, quality_, own.jpeg);
    data::read_jpeg_pixels(own.jpeg, field().shape, out);
  }

  std::span<const std::byte> encoded(
      const Workspace* workspace) const override {
    return static_cast<const Buffers&>(*workspace).jpeg;
  }

 private:
  std::int64_t channels() const { return color_ == Color::kGrey ? 1 : 3; }

  // Whether nothing is to be changed about a file, whose pixels are put then.
  bool keeps(std::string_view file, std::span<std::byte> out) const {
    check_pixels(fit_.width, fit_.height, limits_);
    const auto [width, height] = resized_to(fit_.width, fit_.height, fit_);
    return width == fit_.width && height == fit_.height &&
           decode_jpeg_of(file, field().shape, out);
  }

  void put_pixels(std::string_view file, Buffers& own,
                  std::span<std::byte> out) const {
    decode(file, limits_of_decoding(), own.picture);
    own.width = own.picture.width;
    own.height = own.picture.height;
    const Picture* picture = &own.picture;
    const bool grey = color_ == Color::kGrey;
    if (grey && picture->channels == 3) {
      make_grey(*picture, own.grey);
      picture = &own.grey;
    }
    const auto [width, height] =
        resized_to(picture->width, picture->height, fit_);
    check_pixels(width, height, limits_);
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    if (grey || picture->channels == 3) {
      own.fitter.fit(*picture, to);
      if (color_ == Color::kBgr)
        for (std::size_t i = 0; i < out.size(); i += 3)
          std::swap(to[i], to[i + 2]);
      return;
    }
    own.small.resize(out.size() / 3);
    own.fitter.fit(*picture, own.small.data());
    for (const std::uint8_t value : own.small) {
      std::memset(to, value, 3);
      to += 3;
    }
  }

  // A filter wants more pixels than it gives: twice as many.
  DecodeLimits limits_of_decoding() const {
    DecodeLimits limits = limits_;
    if (!scaled_) return limits;
    limits.least_width = 2 * std::max(fit_.width, fit_.shorter);
    limits.least_height = 2 * std::max(fit_.height, fit_.shorter);
    return limits;
  }

  std::string column_;
  Color color_;
  FitOptions fit_;
  DecodeLimits limits_;
  bool scaled_;
  bool jpeg_;  // examples stay JPEG
  int quality_ = 90;
};

}  // namespace

extern const VectorizerType image_vectorizer;
const VectorizerType image_vectorizer = {
    .name = "image",
    .words =
        "A picture, as U8 [height, width, channels]: JPEG, PNG, WebP, TIFF, "
        "GIF, BMP or PNM, whatever the file is called; of several pictures in "
        "a file the first. It is turned upright as EXIF says. Transparency is "
        "left out, no color profile is applied, of 16 bits the upper 8 are "
        "taken. Decoding and resizing give the bytes that Pillow gives.",
    .keys =
        {{"from", KeyKind::kText, "\"bytes\"", "The column with the file."},
         {.name = "size",
          .kind = KeyKind::kPair,
          .fallback = "",
          .doc = "Height and width of the tensor.",
          .low = 1,
          .high = 65535,
          .of = "[height, width]"},
         {.name = "fit",
          .kind = KeyKind::kOneOf,
          .fallback = "\"crop\"",
          .doc = "Getting to the size: *crop* resizes until the picture covers "
                 "it and takes the middle, *pad* until it lies within and adds "
                 "black, *stretch* changes the proportions.",
          .words = kFits},
         {.name = "shorter",
          .kind = KeyKind::kInteger,
          .doc = "With *crop*: the length of the shorter side before the "
                 "middle is taken, as 256 for a *size* of 224.",
          .low = 1,
          .high = 65535},
         {.name = "interpolation",
          .kind = KeyKind::kOneOf,
          .fallback = "\"bilinear\"",
          .doc = "The filter for resizing.",
          .words = kFilters},
         {.name = "color",
          .kind = KeyKind::kOneOf,
          .fallback = "\"rgb\"",
          .doc = "The channels, in this order; *grey* is one.",
          .words = kColors},
         {.name = "max_pixels",
          .kind = KeyKind::kInteger,
          .fallback = "100000000",
          .doc = "Pixels of the largest picture that is read, or resized to; "
                 "a larger one is a bad record.",
          .low = 1,
          .high = 1LL << 32},
         {.name = "scaled_decoding",
          .kind = KeyKind::kBoolean,
          .fallback = "false",
          .doc = "JPEG is made smaller while it is decoded, to 1/2, 1/4 or 1/8 "
                 "and twice the size at least: faster, and other bytes."},
         {.name = "store",
          .kind = KeyKind::kOneOf,
          .doc = "Form of an example in the stream: *u8*, its pixels (the "
                 "default), or *jpeg*, a fifth of them or less, which is "
                 "decoded when it is read. A "
                 "JPEG file that has the size and the channels is kept as it "
                 "is; any other picture is written as JPEG, which changes its "
                 "pixels a little, for raw data of a model as well.",
          .words = kStores},
         {.name = "quality",
          .kind = KeyKind::kInteger,
          .doc = "With *store* jpeg: quality of those that are written (90).",
          .low = 1,
          .high = 100}},
    .suffixes = kSuffixes,
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<ImageVectorizer>(settings);
    }};

}  // namespace dl::vectorize
