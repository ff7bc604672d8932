// The vectorizer number: columns of numbers to a row of them.

#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

class NumberVectorizer : public Vectorizer {
 public:
  explicit NumberVectorizer(const RecipeSettings& settings)
      : columns_(settings.texts("from")) {}

  data::Field field() const override {
    return {tensor::DType::kF32, {static_cast<std::int64_t>(columns_.size())}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    for (const std::string& column : columns_) {
      const std::string& text = record.at(column);
      double value = 0;
      tensor::Tensor one(tensor::DType::kF32, {1});
      if (!parse_number(trim(text), value))
        bad_data("column " + in_quotes(column) + ": want a number, got '" +
                 clipped(text) + "'");
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
  std::vector<std::string> columns_;
};

}  // namespace

extern const VectorizerType number_vectorizer;
const VectorizerType number_vectorizer = {
    .name = "number",
    .words =
        "Numbers that columns hold as text, as F32 [columns]: of labels, "
        "numbers to predict.",
    .keys = {{.name = "from",
              .kind = KeyKind::kTexts,
              .fallback = "",
              .doc = "The columns."}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<NumberVectorizer>(settings);
    }};

}  // namespace dl::vectorize
