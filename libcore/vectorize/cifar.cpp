// CIFAR's binary files: one or two label bytes, then 32x32 pixels as planes of
// red, green and blue.

#include <array>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {
namespace {

using tensor::DType;

constexpr std::int64_t kSide = 32, kPixels = kSide * kSide, kChannels = 3;
constexpr std::int64_t kImage = kPixels * kChannels;

// The names in CIFAR-10's batches.meta.txt.
constexpr const char* kNames10 =
    "airplane,automobile,bird,cat,deer,dog,frog,horse,ship,truck";

class CifarReader : public Reader {
 public:
  CifarReader(const std::vector<std::string>& inputs,
              const std::string& variant, const ReaderOptions& options,
              BadRecords& bad)
      : inputs_(inputs),
        label_bytes_(variant == "10" ? 1 : 2),
        label_at_(variant == "100" ? 1 : 0),
        classes_(!options.classes.empty() ? options.classes
                 : variant == "10"        ? kNames10
                 : variant == "100"       ? "100"
                                          : "20"),
        bad_(bad),
        schema_(metadata().schema),
        batch_(record_examples(options.batch, schema_)) {
    if (variant != "10" && variant != "100" && variant != "100-coarse")
      throw Error{Code::kUsage, "--variant: want 10, 100 or 100-coarse, got '" +
                                    displayed(variant) + "'"};
    if (options.regression || !options.shape.empty() || !options.dtype.empty())
      throw Error{Code::kUsage,
                  "cifar has classes and pixels of its own: no --regression, "
                  "--shape or --dtype"};
    if (inputs_.empty()) inputs_ = {"-"};
    open_next();
  }

  bool read(data::DataSet& set) override {
    set = make_record(schema_, batch_);
    std::int64_t n = 0;
    while (n < batch_ && next_image(set, n)) {
    }
    if (n < batch_) set = set.slice(0, n);
    return n > 0;
  }

  std::int64_t examples() const override { return images_; }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {DType::kU8, {kSide, kSide, kChannels}};
    metadata.schema["labels"] = {DType::kU8, {}};
    if (bad_.tolerant()) metadata.schema["index"] = kIndexField;
    metadata.classes = classes_.names();
    return metadata;
  }

 private:
  void open_next() {
    input_ = std::make_unique<RawInput>(inputs_[next_++]);
    image_ = 0;
  }

  // Puts one image at place n, if it is good; false at the end of all input.
  bool next_image(data::DataSet& set, std::int64_t& n) {
    std::array<std::byte, 2 + kImage> record;
    auto bytes = std::span(record).first(
        static_cast<std::size_t>(label_bytes_ + kImage));
    while (!input_->read(bytes, "an image")) {
      input_->close();
      if (next_ == inputs_.size()) return false;
      open_next();
    }
    ++image_;
    const std::int64_t index = images_++;
    auto label = std::to_integer<std::int64_t>(
        record[static_cast<std::size_t>(label_at_)]);
    if (label >= static_cast<std::int64_t>(classes_.names().size())) {
      bad_.add(input_->name() + ", image " + std::to_string(image_) + ": " +
               classes_.complaint(std::to_string(label)));
      return true;
    }
    set.tensors.at("labels").as<std::uint8_t>()[static_cast<std::size_t>(n)] =
        static_cast<std::uint8_t>(label);
    std::uint8_t* out =
        set.tensors.at("features").as<std::uint8_t>().data() + n * kImage;
    const std::byte* in = record.data() + label_bytes_;
    for (std::int64_t p = 0; p < kPixels; ++p)
      for (std::int64_t c = 0; c < kChannels; ++c)
        out[p * kChannels + c] =
            std::to_integer<std::uint8_t>(in[c * kPixels + p]);
    if (bad_.tolerant()) set_index(set, n, index);
    ++n;
    return true;
  }

  std::vector<std::string> inputs_;
  int label_bytes_, label_at_;
  ClassLabels classes_;
  BadRecords& bad_;
  Schema schema_;
  std::int64_t batch_;
  std::size_t next_ = 0;
  std::int64_t image_ = 0;   // of the current file, from 1
  std::int64_t images_ = 0;  // read, of all
  std::unique_ptr<RawInput> input_;
};

}  // namespace

std::unique_ptr<Reader> open_cifar(const std::vector<std::string>& inputs,
                                   const std::string& variant,
                                   const ReaderOptions& options,
                                   BadRecords& bad) {
  return std::make_unique<CifarReader>(inputs, variant, options, bad);
}

}  // namespace dl::vectorize
