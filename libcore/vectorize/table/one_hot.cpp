#include "libcore/vectorize/table/one_hot.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// The category that a column of a record names.
class CategoryColumn {
 public:
  explicit CategoryColumn(const RecipeSettings& settings)
      : name_(settings.text("from")), pattern_(settings), missing_(settings) {}

  const std::string& name() const { return name_; }
  // Empty: it is missing.
  std::string value(const Record& record) const {
    std::string text = pattern_.part_of(record.at(name_));
    if (missing_.contain(text)) return "";
    if (const std::string why = not_text("the category", text); !why.empty())
      bad_data("column " + in_quotes(name_) + ": " + why);
    return text;
  }

 private:
  std::string name_;
  Pattern pattern_;
  MissingWords missing_;
};

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
  }

  data::Field field() const override {
    return {tensor::DType::kF32,
            {std::ssize(classes_.names()) + (unknown_ == "other" ? 1 : 0)}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    const std::string value = column_.value(record);
    std::int64_t number = classes_.find(value);
    if (number < 0 && unknown_ == "error")
      bad_data("column " + in_quotes(column_.name()) + ": " +
               (value.empty() ? "the category is missing"
                              : classes_.complaint(value)) +
               " (\"unknown\" of the recipe lets it pass)");
    if (number < 0 && unknown_ == "zeros") return;
    if (number < 0) number = std::ssize(classes_.names());
    constexpr float kOne = 1;
    std::memcpy(out.data() + static_cast<std::size_t>(number) * sizeof kOne,
                &kOne, sizeof kOne);
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    for (const std::string& name : classes_.names())
      names.push_back(column_.name() + "=" + name);
    if (unknown_ == "other") names.push_back(column_.name() + "=");
  }

 private:
  CategoryColumn column_;
  std::string unknown_;
  ClassLabels classes_;
};

class OneHotLearner : public Learner {
 public:
  explicit OneHotLearner(const RecipeSettings& settings) : column_(settings) {}

  void see(const Record& record) override {
    if (const std::string value = column_.value(record); !value.empty())
      counts_.add(value);
  }
  Json state() const override { return counts_.state(); }
  void merge(const JsonView& state, std::int64_t records) override {
    counts_.merge(state, records);
  }
  void finish(Json& given) const override {
    Json classes = Json::array();
    for (const auto& [name, times] : counts_.counts()) classes.push_back(name);
    if (classes.empty())
      bad_data("column " + in_quotes(column_.name()) +
               " has no values to learn from");
    given["classes"] = classes;
  }

 private:
  CategoryColumn column_;
  TextCounts counts_;
};

}  // namespace

std::unique_ptr<Vectorizer> make_one_hot(const RecipeSettings& settings) {
  return std::make_unique<OneHotVectorizer>(settings);
}

std::unique_ptr<Learner> fit_one_hot(const RecipeSettings& settings) {
  if (settings.has("classes")) return nullptr;
  return std::make_unique<OneHotLearner>(settings);
}

}  // namespace dl::vectorize
