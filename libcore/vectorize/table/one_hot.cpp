#include "libcore/vectorize/table/one_hot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/table/category_column.h"

namespace dl::vectorize {
namespace {

class OneHotVectorizer : public Vectorizer {
 public:
  explicit OneHotVectorizer(const RecipeSettings& settings)
      : column_(settings),
        unknown_(settings.has("unknown") ? settings.text("unknown") : "error"),
        classes_(settings.has("classes") ? settings.texts("classes")
                                         : std::vector<std::string>{}) {
    if (!classes_.fixed())
      bad_config("the classes of column " + in_quotes(column_.name()) +
                 " are to be learnt: dl-preprocess fit RECIPE DATA");
    has_missing_ = std::ranges::any_of(
        classes_.names(),
        [&](const std::string& name) { return column_.is_missing(name); });
  }

  data::Field field() const override {
    return {tensor::DType::kF32,
            {std::ssize(classes_.names()) + (unknown_ == "other" ? 1 : 0)}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    std::int64_t number = -1;
    if (column_.is_plain() && !has_missing_) {
      number = classes_.find(column_.text(record));
      if (number >= 0) return set(number, out);
    }
    const std::string value = column_.value(record);
    number = classes_.find(value);
    if (number < 0 && unknown_ == "error")
      bad_data("column " + in_quotes(column_.name()) + ": " +
               (value.empty() ? "the category is missing"
                              : classes_.complaint(value)) +
               " (\"unknown\" of the recipe lets it pass)");
    if (number < 0 && unknown_ == "zeros") return;
    set(number < 0 ? std::ssize(classes_.names()) : number, out);
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    for (const std::string& name : classes_.names())
      names.push_back(column_.name() + "=" + name);
    if (unknown_ == "other") names.push_back(column_.name() + "=");
  }

 private:
  static void set(std::int64_t number, std::span<std::byte> out) {
    constexpr float kOne = 1;
    std::memcpy(out.data() + static_cast<std::size_t>(number) * sizeof kOne,
                &kOne, sizeof kOne);
  }

  CategoryColumn column_;
  std::string unknown_;
  ClassLabels classes_;
  bool has_missing_ = false;  // a class that stands for a missing value
};

class OneHotLearner : public Learner {
 public:
  explicit OneHotLearner(const RecipeSettings& settings)
      : column_(settings),
        most_(settings.has("most") ? settings.integer("most") : INT64_MAX) {}

  void see(const Record& record) override {
    if (const std::string value = column_.value(record); !value.empty())
      counts_.add(value);
  }
  bool learn(const TableProfile& table) override {
    const ColumnProfile* own = table.find(column_.name());
    if (own == nullptr || !own->is_counted()) return false;
    own->each_value([&](std::string_view text, std::int64_t times) {
      if (const std::string value = column_.value_of(text); !value.empty())
        counts_.add(value, times);
    });
    return true;
  }
  Json state() const override { return counts_.state(); }
  void merge(const JsonView& state, std::int64_t records) override {
    counts_.merge(state, records);
  }
  void finish(Json& given) const override {
    if (counts_.empty())
      bad_data("column " + in_quotes(column_.name()) +
               " has no values to learn from");
    given["classes"] = most_frequent(counts_, most_);
  }

 private:
  CategoryColumn column_;
  std::int64_t most_;
  TextCounts counts_;
};

}  // namespace

std::vector<std::string> most_frequent(const TextCounts& counts,
                                       std::int64_t most) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [name, times] : counts.counts())
    order.emplace_back(-times, name);
  if (std::cmp_less(most, order.size())) {
    std::ranges::sort(order);
    order.resize(static_cast<std::size_t>(most));
  }
  std::vector<std::string> names;
  names.reserve(order.size());
  for (auto& [times, name] : order) names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<Vectorizer> make_one_hot(const RecipeSettings& settings) {
  return std::make_unique<OneHotVectorizer>(settings);
}

std::unique_ptr<Learner> fit_one_hot(const RecipeSettings& settings) {
  if (settings.has("classes")) return nullptr;
  return std::make_unique<OneHotLearner>(settings);
}

}  // namespace dl::vectorize
