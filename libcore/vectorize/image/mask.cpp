// The vectorizer mask: a PNG to the class of each of its pixels.

#include <array>
#include <cmath>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/image/decode.h"
#include "libcore/vectorize/image/fit.h"
#include "libcore/vectorize/image/formats.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kMaskFits[] = {"crop", "pad", "stretch"};
constexpr int kNoClass = -1;
using ClassOfNumber = std::array<int, 256>;

// Without values each number is a class.
ClassOfNumber classes_of(const RecipeSettings& settings) {
  ClassOfNumber classes{};
  if (!settings.has("values")) {
    for (std::size_t i = 0; i < classes.size(); ++i)
      classes[i] = static_cast<int>(i);
    return classes;
  }
  classes.fill(kNoClass);
  if (settings.numbers("values").empty())
    bad_config("values: want one or more");
  int next = 0;
  for (const double value : settings.numbers("values")) {
    if (!(value >= 0 && value <= 255) || value != std::floor(value))
      bad_config("values are integers 0..255, each once");
    int& place = classes[static_cast<std::size_t>(value)];
    if (place != kNoClass) bad_config("values are integers 0..255, each once");
    place = next++;
  }
  return classes;
}

class MaskVectorizer : public Vectorizer {
 public:
  MaskVectorizer(const RecipeSettings& settings,
                 const std::vector<std::string>& known)
      : column_(settings.text("from")),
        classes_(classes_of(settings)),
        names_(known.empty() && settings.has("classes")
                   ? settings.texts("classes")
                   : known),
        values_(settings.has("values") ? dump_json(settings.json()["values"])
                                       : "") {
    const auto size = settings.integers("size");
    fit_.height = size[0];
    fit_.width = size[1];
    fit_.fit = static_cast<Fit>(settings.word("fit", kMaskFits));
    fit_.filter = Filter::kNearest;  // others make numbers between classes
    limits_.max_pixels = settings.integer("max_pixels");
    if (names_.size() > classes_.size())
      bad_config("classes: want 256 at most");
    if (settings.has("values") && !names_.empty() &&
        names_.size() != settings.numbers("values").size())
      bad_config("classes and values are as many as each other");
  }

  data::Field field() const override {
    return {tensor::DType::kU8, {fit_.height, fit_.width}};
  }

  struct Buffers : Workspace {
    explicit Buffers(const FitOptions& options) : fitter(options) {}
    Picture picture;
    Fitter fitter;
  };
  std::unique_ptr<Workspace> workspace() const override {
    return std::make_unique<Buffers>(fit_);
  }

  void put(const Record& record, std::int64_t, Workspace* workspace,
           std::span<std::byte> out) const override {
    auto& own = static_cast<Buffers&>(*workspace);
    Picture& picture = own.picture;
    try {
      read_png_numbers(record.at(column_), limits_, picture);
    } catch (Error& e) {
      e.add_context("mask");
      throw;
    }
    make_upright(picture);
    own.width = picture.width;
    own.height = picture.height;
    for (std::uint8_t& pixel : picture.pixels) {
      const int found = classes_[pixel];
      if (found == kNoClass)
        bad_data("mask: a pixel has the number " + std::to_string(pixel) +
                 ", and values are " + values_);
      if (!names_.empty() && static_cast<std::size_t>(found) >= names_.size())
        bad_data("mask: a pixel has the number " + std::to_string(pixel) +
                 ", and there are " + std::to_string(names_.size()) +
                 " classes");
      pixel = static_cast<std::uint8_t>(found);
    }
    const auto [width, height] =
        resized_to(picture.width, picture.height, fit_);
    check_pixels(width, height, limits_);
    own.fitter.fit(picture, reinterpret_cast<std::uint8_t*>(out.data()));
  }

  void describe(data::About& about, bool of_labels) const override {
    if (of_labels) about.classes = names_;
  }

 private:
  std::string column_;
  ClassOfNumber classes_;
  std::vector<std::string> names_;  // those of the classes, or none
  std::string values_;              // as the recipe has them
  FitOptions fit_;
  DecodeLimits limits_;
};

}  // namespace

extern const VectorizerType mask_vectorizer;
const VectorizerType mask_vectorizer = {
    .name = "mask",
    .words =
        "The class of each pixel, as U8 [height, width], of a PNG of 8 bits "
        "or less: its grey, or the place in its palette, as it is stored. It "
        "is resized by the nearest pixel, as classes have none between them.",
    .keys = {{"from", KeyKind::kText, "\"bytes\"", "The column with the file."},
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
              .doc = "Getting to the size, as of *image*; *pad* adds class 0.",
              .words = kMaskFits},
             {.name = "values",
              .kind = KeyKind::kNumbers,
              .doc =
                  "The number of each class in the file, class 0 first, as [0, "
                  "255]; a pixel with another one makes a bad record. Without "
                  "them each number is a class."},
             {.name = "classes",
              .kind = KeyKind::kTexts,
              .doc =
                  "Names of the classes, class 0 first. Without them classes "
                  "are called by their numbers."},
             {.name = "max_pixels",
              .kind = KeyKind::kInteger,
              .fallback = "100000000",
              .doc = "Pixels of the largest mask that is read, or resized to.",
              .low = 1,
              .high = 1LL << 32}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>& known)
        -> std::unique_ptr<Vectorizer> {
      return std::make_unique<MaskVectorizer>(settings, known);
    }};

}  // namespace dl::vectorize
