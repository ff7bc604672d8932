// The vectorizer category with "encode": "hashed": a row of so many zeros, with
// a one at a place that a hash of the text gives.

#include <algorithm>
#include <cstring>

#include "libcore/io/digest.h"
#include "libcore/vectorize/table/category_column.h"
#include "libcore/vectorize/table/one_hot.h"

namespace dl::vectorize {
namespace {

class HashedVectorizer : public Vectorizer {
 public:
  explicit HashedVectorizer(const RecipeSettings& settings)
      : column_(settings), buckets_(settings.integer("buckets")) {}

  data::Field field() const override {
    return {tensor::DType::kF32, {buckets_}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    const std::string value = column_.value(record);
    if (value.empty()) return;  // it is missing
    const std::uint64_t place = io::digest(std::as_bytes(std::span(value))) %
                                static_cast<std::uint64_t>(buckets_);
    constexpr float kOne = 1;
    std::memcpy(out.data() + place * sizeof kOne, &kOne, sizeof kOne);
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    for (std::int64_t i = 0; i < buckets_; ++i)
      names.push_back(column_.name() + "#" + std::to_string(i));
  }

 private:
  CategoryColumn column_;
  std::int64_t buckets_;
};

}  // namespace

std::unique_ptr<Vectorizer> make_hashed(const RecipeSettings& settings) {
  return std::make_unique<HashedVectorizer>(settings);
}

}  // namespace dl::vectorize
