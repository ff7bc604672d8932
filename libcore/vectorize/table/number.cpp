// The vectorizer number: columns of numbers to a row of them.

#include <cmath>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

class NumberVectorizer : public Vectorizer {
 public:
  explicit NumberVectorizer(const RecipeSettings& settings)
      : columns_(settings.texts("from")),
        words_(settings),
        fills_(settings.text("missing") == "value"),
        value_(settings.number("value")) {}

  data::Field field() const override {
    return {tensor::DType::kF32, {static_cast<std::int64_t>(columns_.size())}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    for (const std::string& column : columns_) {
      const std::string_view text = trim(record.at(column));
      double value = 0;
      tensor::Tensor one(tensor::DType::kF32, {1});
      if (!number_in(column, text, value)) {
        if (!fills_)
          bad_data("column " + in_quotes(column) +
                   ": a value is missing (\"missing\" of the recipe lets it "
                   "pass)");
        value = value_;
      }
      if (!store(one, 0, value))
        bad_data("column " + in_quotes(column) + ": " +
                 does_not_fit(text, tensor::DType::kF32));
      std::memcpy(out.data(), one.bytes().data(), sizeof(float));
      out = out.subspan(sizeof(float));
    }
  }

  void describe(data::About& about, bool of_labels) const override {
    (of_labels ? about.targets : about.columns) = columns_;
  }

 private:
  // False: it is missing.
  bool number_in(const std::string& column, std::string_view text,
                 double& value) const {
    if (words_.contain(text)) return false;
    if (!parse_number(text, value) && !parse_truth(text, value))
      bad_data("column " + in_quotes(column) + ": want a number, got '" +
               clipped(text) + "'");
    return !std::isnan(value) || !words_.are_known();
  }

  std::vector<std::string> columns_;
  MissingWords words_;
  bool fills_;
  double value_;
};

constexpr std::string_view kMissing[] = {"fail", "value"};

}  // namespace

extern const VectorizerType number_vectorizer;
const VectorizerType number_vectorizer = {
    .name = "number",
    .words =
        "Numbers that columns hold as text, as F32 [columns]: of labels, "
        "numbers to predict. true and false are 1 and 0.",
    .keys = {{.name = "from",
              .kind = KeyKind::kTexts,
              .fallback = "",
              .doc = "The columns."},
             {.name = "missing",
              .kind = KeyKind::kOneOf,
              .fallback = "\"fail\"",
              .doc = "A missing number: *fail*, the record is bad; *value*, "
                     "the number of that key stands in for it.",
              .words = kMissing},
             {.name = "value",
              .kind = KeyKind::kNumber,
              .fallback = "0",
              .doc = "The number that stands in for missing ones."},
             kNaKey},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<NumberVectorizer>(settings);
    }};

}  // namespace dl::vectorize
