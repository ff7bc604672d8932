// The vectorizer id: the text that names an example.

#include <algorithm>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

class IdVectorizer : public Vectorizer {
 public:
  explicit IdVectorizer(const RecipeSettings& settings)
      : column_(settings.text("from")),
        pattern_(settings),
        size_(settings.integer("bytes")),
        remedy_(settings.remedy("--id-bytes", "bytes")) {}

  data::Field field() const override { return {tensor::DType::kU8, {size_}}; }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    const std::string text = pattern_.part_of(column_.of(record));
    if (text.empty()) bad_data("the id is missing");
    if (const std::string why = not_text("the id", text); !why.empty())
      bad_data(why);
    if (text.size() > out.size())
      bad_data("the id has " + std::to_string(text.size()) + " bytes, want " +
               std::to_string(out.size()) + " at most (" + remedy_ + ")");
    std::memcpy(out.data(), text.data(), text.size());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(text.size()), out.end(),
              std::byte{0});
  }

 private:
  ColumnOfRecords column_;
  Pattern pattern_;
  std::int64_t size_;
  std::string remedy_;
};

}  // namespace

extern const VectorizerType id_vectorizer;
const VectorizerType id_vectorizer = {
    .name = "id",
    .words =
        "A text that names the example, which predictions have beside "
        "them: so many bytes of UTF-8, U8, with zeros behind.",
    .keys = {{"from", KeyKind::kText, "\"path\"", "The column with the text."},
             kPatternKey,
             {.name = "bytes",
              .kind = KeyKind::kInteger,
              .fallback = "256",
              .doc = "Bytes of the longest; a longer one is a bad record.",
              .low = 1,
              .high = 65536}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<IdVectorizer>(settings);
    }};

}  // namespace dl::vectorize
