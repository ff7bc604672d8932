// CIFAR's binary files: one or two label bytes, then 32x32 pixels as planes of
// red, green and blue.

#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/example_reader.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/record_blocks.h"

namespace dl::vectorize {
namespace {

using tensor::DType;

constexpr std::int64_t kSide = 32, kPixels = kSide * kSide, kChannels = 3;
constexpr std::int64_t kImage = kPixels * kChannels;

// The names in CIFAR-10's batches.meta.txt.
constexpr const char* kNames10 =
    "airplane,automobile,bird,cat,deer,dog,frog,horse,ship,truck";

class CifarReader : public ExampleReader {
 public:
  CifarReader(const std::vector<std::string>& inputs,
              const std::string& variant, const ReaderOptions& options,
              BadRecords& bad)
      : ExampleReader(options, bad),
        label_bytes_(variant == "10" ? 1 : 2),
        label_at_(variant == "100" ? 1 : 0),
        classes_(!options.classes.empty() ? options.classes
                 : variant == "10"        ? kNames10
                 : variant == "100"       ? "100"
                                          : "20") {
    if (variant != "10" && variant != "100" && variant != "100-coarse")
      throw Error{Code::kUsage, "--variant: want 10, 100 or 100-coarse, got '" +
                                    displayed(variant) + "'"};
    if (options.regression || !options.shape.empty() || !options.dtype.empty())
      throw Error{Code::kUsage,
                  "cifar has classes and pixels of its own: no --regression, "
                  "--shape or --dtype"};
    start();
    input_.emplace(inputs.empty() ? std::vector<std::string>{"-"} : inputs,
                   static_cast<std::size_t>(label_bytes_ + kImage), "an image",
                   [](const std::string& spec) {
                     return std::make_unique<RawInput>(spec);
                   });
  }
  ~CifarReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {DType::kU8, {kSide, kSide, kChannels}};
    metadata.schema["labels"] = {DType::kU8, {}};
    if (tolerant()) metadata.schema["index"] = kIndexField;
    metadata.classes = classes_.names();
    return metadata;
  }

 private:
  bool cut(InputBlock& block) override {
    return input_->next(block, most_examples());
  }

  void parse(ParsedBlock& parsed) const override {
    const std::int64_t images = input_->records(parsed.block);
    if (only_counts(parsed.block)) {
      parsed.all = images;
      return;
    }
    parsed.set = make_record(schema(), images);
    for (std::int64_t i = 0; i < images; ++i)
      put(parsed, input_->record(parsed.block, i));
  }

  // Takes in an image, if it is good.
  void put(ParsedBlock& parsed, std::span<const std::byte> record) const {
    const auto label = std::to_integer<std::int64_t>(
        record[static_cast<std::size_t>(label_at_)]);
    if (label >= static_cast<std::int64_t>(classes_.names().size()))
      return parsed.leave_out(parsed.block.name + ", image " +
                              std::to_string(parsed.block.line + parsed.all) +
                              ": " + classes_.complaint(std::to_string(label)));
    const std::int64_t n = parsed.good++;
    ++parsed.all;
    parsed.set.tensors.at("labels")
        .as<std::uint8_t>()[static_cast<std::size_t>(n)] =
        static_cast<std::uint8_t>(label);
    std::uint8_t* out =
        parsed.set.tensors.at("features").as<std::uint8_t>().data() +
        n * kImage;
    const std::byte* in = record.data() + label_bytes_;
    for (std::int64_t p = 0; p < kPixels; ++p)
      for (std::int64_t c = 0; c < kChannels; ++c)
        out[p * kChannels + c] =
            std::to_integer<std::uint8_t>(in[c * kPixels + p]);
  }

  int label_bytes_, label_at_;
  ClassLabels classes_;
  std::optional<RecordBlocks> input_;
};

}  // namespace

std::unique_ptr<Reader> open_cifar(const std::vector<std::string>& inputs,
                                   const std::string& variant,
                                   const ReaderOptions& options,
                                   BadRecords& bad) {
  return std::make_unique<CifarReader>(inputs, variant, options, bad);
}

}  // namespace dl::vectorize
