// The vectorizer category: a text that names a class to its number.

#include <cstring>
#include <map>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/one_hot.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

// The class that a column of a record names.
class ClassColumn {
 public:
  explicit ClassColumn(const RecipeSettings& settings)
      : column_(settings.text("from")),
        pattern_(settings),
        missing_(settings),
        where_(where_the_class_is(settings.from())) {}

  const std::string& name() const { return column_.name(); }
  std::string value(const Record& record) const {
    std::string text = pattern_.part_of(column_.of(record));
    // A file of one line ends with it.
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (missing_.contain(text))
      bad_data("column " + in_quotes(name()) + ": the class is missing");
    if (text.empty())
      bad_data(
          name() == "folder"
              ? "it lies in no folder of a class; move it into one, or say "
                "where the class is (" +
                    where_ + ")"
              : "its class is empty (" + in_quotes(name()) + ")");
    return text;
  }

 private:
  static std::string where_the_class_is(RecipeFrom from) {
    switch (from) {
      case RecipeFrom::kOptions:
        return "--label-from, --label-pattern, --no-labels";
      case RecipeFrom::kModel:
        return "--label-from, --label-pattern, --labels";
      case RecipeFrom::kFile:
        break;
    }
    return "\"from\" and \"pattern\" of the recipe, --no-labels";
  }

  ColumnOfRecords column_;
  Pattern pattern_;
  MissingWords missing_;
  std::string where_;  // options or keys that tell of the class
};

ClassLabels classes_of(const RecipeSettings& settings,
                       const std::vector<std::string>& known) {
  ClassLabels classes(known.empty() && settings.has("classes")
                          ? settings.texts("classes")
                          : known);
  if (settings.from() != RecipeFrom::kOptions)
    classes.set_remedies("the vectorizer number",
                         settings.remedy("", "classes"));
  return classes;
}

class CategoryVectorizer : public Vectorizer {
 public:
  CategoryVectorizer(const RecipeSettings& settings,
                     const std::vector<std::string>& known)
      : column_(settings), classes_(classes_of(settings, known)) {}

  data::Field field() const override { return {tensor::DType::kI32, {}}; }

  std::int64_t see(const Record& record) override {
    const std::string name = column_.value(record);
    const std::int64_t number =
        classes_.fixed() ? classes_.find(name) : classes_.index(name);
    if (number < 0) bad_data(classes_.complaint(name));
    return number;
  }
  bool sees_in_order() const override { return !classes_.fixed(); }

  void put(const Record&, std::int64_t seen, Workspace*,
           std::span<std::byte> out) const override {
    const auto number = static_cast<std::int32_t>(seen);
    std::memcpy(out.data(), &number, sizeof number);
  }

  void describe(data::About& about, bool of_labels) const override {
    if (of_labels) about.classes = classes_.names();
  }
  std::string warning() const override { return classes_.doubt(); }

 private:
  ClassColumn column_;
  ClassLabels classes_;
};

// Learns the classes, in the order in which they first appear.
class ClassLearner : public Learner {
 public:
  explicit ClassLearner(const RecipeSettings& settings)
      : column_(settings), classes_(classes_of(settings, {})) {}

  void see(const Record& record) override { add(column_.value(record), 1); }
  Json state() const override {
    Json all = Json::array();
    for (const std::string& name : classes_.names())
      all.push_back({{"name", name}, {"count", counts_.at(name)}});
    return all;
  }
  void merge(const JsonView& state, std::int64_t records) override {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const JsonView one = state.at(i);
      one.only({"name", "count"});
      const std::string name = one.at("name").string();
      const std::int64_t count = one.at("count").integer(1, INT64_MAX >> 8);
      records -= count;
      if (name.empty() || !seen.insert(name).second || records < 0)
        one.fail("classes, each once, of as many records");
      add(name, count);
    }
  }
  void finish(Json& given) const override {
    if (classes_.names().empty())
      bad_data("column " + in_quotes(column_.name()) +
               " has no values to learn from");
    given["classes"] = classes_.names();
  }

 private:
  void add(const std::string& name, std::int64_t count) {
    if (classes_.index(name) < 0) bad_data(classes_.complaint(name));
    counts_[name] += count;
  }

  ClassColumn column_;
  ClassLabels classes_;
  std::map<std::string, std::int64_t> counts_;
};

enum class Encoding { kIndex, kOneHot, kHashed };
constexpr std::string_view kEncodings[] = {"index", "one_hot", "hashed"};

// Throws Error: kConfig, a key is another encoding's.
Encoding encoding_of(const RecipeSettings& settings) {
  const auto encoding =
      settings.has("encode")
          ? static_cast<Encoding>(settings.word("encode", kEncodings))
          : Encoding::kIndex;
  const auto refuse = [&](const char* key, Encoding of, const char* name) {
    if (settings.has(key) && encoding != of)
      bad_config(std::string(key) + " is for \"encode\": \"" + name + "\"");
  };
  refuse("unknown", Encoding::kOneHot, "one_hot");
  refuse("most", Encoding::kOneHot, "one_hot");
  refuse("buckets", Encoding::kHashed, "hashed");
  if (encoding != Encoding::kHashed) return encoding;
  if (!settings.has("buckets"))
    bad_config("\"encode\": \"hashed\" wants buckets, their number");
  if (settings.has("classes"))
    bad_config("classes are not for \"encode\": \"hashed\"");
  return encoding;
}

}  // namespace

extern const VectorizerType category_vectorizer;
const VectorizerType category_vectorizer = {
    .name = "category",
    .words =
        "The number of a class that a column names, as I32; or a row of "
        "zeros with a one in its place, as F32 [classes]; or in a place that "
        "a hash of it gives, as F32 [buckets].",
    .keys = {{"from", KeyKind::kText, "\"folder\"",
              "The column with the name."},
             kPatternKey,
             kNaKey,
             {.name = "classes",
              .kind = KeyKind::kTexts,
              .doc = "The classes, in order; another name is a bad record. "
                     "Without it they are numbered as they first appear, in a "
                     "folder thus by their names, and a fit learns them in "
                     "this order; for one_hot a fit learns them, in byte "
                     "order."},
             {.name = "encode",
              .kind = KeyKind::kOneOf,
              .doc = "*index*, the default, the number; *one_hot*, the row; "
                     "*hashed*, a row of *buckets* places, in which classes "
                     "may collide, and a missing one is all zeros: for very "
                     "many classes, of which none has to be learnt.",
              .words = kEncodings},
             {.name = "most",
              .kind = KeyKind::kInteger,
              .doc = "With one_hot: the number of classes that a fit learns, "
                     "those that occur most often; the others are as "
                     "*unknown* says.",
              .low = 1,
              .high = kMaxColumns},
             {.name = "buckets",
              .kind = KeyKind::kInteger,
              .doc = "With hashed: the number of places.",
              .low = 1,
              .high = kMaxColumns},
             {.name = "unknown",
              .kind = KeyKind::kOneOf,
              .doc = "With one_hot, a class that is none of these, or is "
                     "missing: *error*, the default, the record is bad; "
                     "*other*, a place "
                     "of its own behind them; *zeros*.",
              .words = kUnknownWords}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>& classes)
        -> std::unique_ptr<Vectorizer> {
      const Encoding encoding = encoding_of(settings);
      if (encoding == Encoding::kOneHot) return make_one_hot(settings);
      if (encoding == Encoding::kHashed) return make_hashed(settings);
      return std::make_unique<CategoryVectorizer>(settings, classes);
    },
    .fit = [](const RecipeSettings& settings) -> std::unique_ptr<Learner> {
      const Encoding encoding = encoding_of(settings);
      if (encoding == Encoding::kOneHot) return fit_one_hot(settings);
      if (encoding == Encoding::kHashed) return nullptr;
      if (settings.has("classes")) return nullptr;
      return std::make_unique<ClassLearner>(settings);
    }};

}  // namespace dl::vectorize
