// The vectorizer number: columns of numbers to a row of them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/word_set.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

enum class MissingNumber {
  kFail,
  kKeep,
  kValue,
  kMean,
  kMedian,
  kMostFrequent
};
constexpr std::string_view kMissingWords[] = {
    "fail", "keep", "value", "mean", "median", "most_frequent"};

WordSet words_of(const RecipeSettings& settings, const char* key) {
  return settings.has(key) ? WordSet(settings.texts(key)) : WordSet();
}

// The numbers that columns of a record hold as text.
class NumberColumns {
 public:
  explicit NumberColumns(const RecipeSettings& settings)
      : columns_(settings.texts("from")),
        places_(columns_.begin(), columns_.end()),
        words_(settings),
        true_(words_of(settings, "true")),
        false_(words_of(settings, "false")) {
    for (const std::string& word : true_)
      if (false_.contains(word))
        bad_config("true and false both have " + in_quotes(word));
  }

  const std::vector<std::string>& columns() const { return columns_; }

  // None: it is missing.  Throws Error: kData, it is no number.
  std::optional<double> value(const Record& record, std::size_t i) const {
    const std::string_view text = trim(places_[i].of(record));
    if (words_.contain(text)) return std::nullopt;
    if (true_.contains(text)) return 1;
    if (false_.contains(text)) return 0;
    double value = 0;
    if (!parse_number(text, value) && !parse_truth(text, value))
      bad_data("column " + in_quotes(columns_[i]) + ": want a number, got '" +
               clipped(text) + "'");
    if (std::isnan(value) && words_.are_known()) return std::nullopt;
    if (!(std::abs(value) <= std::numeric_limits<float>::max()))
      bad_data("column " + in_quotes(columns_[i]) + ": " +
               does_not_fit(text, tensor::DType::kF32));
    return value;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<ColumnOfRecords> places_;
  MissingWords words_;
  WordSet true_, false_;
};

// Changes of a number that need nothing of the others.
class NumberChange {
 public:
  explicit NumberChange(const RecipeSettings& settings)
      : log_(settings.has("log") && settings.flag("log")) {
    if (!settings.has("clip")) return;
    const std::vector<double> clip = settings.numbers("clip");
    if (clip.size() != 2 || !(clip[0] < clip[1]))
      bad_config("clip wants two numbers, the lower one first");
    low_ = clip[0];
    high_ = clip[1];
  }
  double operator()(double value) const {
    value = std::clamp(value, low_, high_);
    return log_ ? std::copysign(std::log1p(std::abs(value)), value) : value;
  }

 private:
  bool log_;
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = std::numeric_limits<double>::infinity();
};

MissingNumber missing_of(const RecipeSettings& settings) {
  return settings.has("missing") ? static_cast<MissingNumber>(
                                       settings.word("missing", kMissingWords))
                                 : MissingNumber::kFail;
}

// Keys that have no effect, or do not fit each other.
void check_fills(const RecipeSettings& settings, std::size_t columns) {
  const MissingNumber missing = missing_of(settings);
  if (settings.has("value") && missing != MissingNumber::kValue)
    bad_config("value is for \"missing\": \"value\"");
  if (!settings.has("fills")) return;
  if (missing <= MissingNumber::kValue)
    bad_config(
        "fills is for \"missing\": \"mean\", \"median\" or "
        "\"most_frequent\"");
  const std::size_t fills = settings.numbers("fills").size();
  if (fills != columns)
    bad_config("fills wants a number for each column, " +
               std::to_string(columns) + ", got " + std::to_string(fills));
}

class NumberVectorizer : public Vectorizer {
 public:
  explicit NumberVectorizer(const RecipeSettings& settings)
      : columns_(settings),
        change_(settings),
        indicator_(settings.has("indicator") && settings.flag("indicator")) {
    const std::size_t count = columns_.columns().size();
    const MissingNumber missing = missing_of(settings);
    check_fills(settings, count);
    if (missing == MissingNumber::kFail) {
      if (indicator_) bad_config(kIndicatorAlone);
      return;
    }
    if (missing == MissingNumber::kKeep)
      fills_.assign(count, std::numeric_limits<double>::quiet_NaN());
    else if (missing == MissingNumber::kValue)
      fills_.assign(count,
                    settings.has("value") ? settings.number("value") : 0);
    else if (settings.has("fills"))
      fills_ = settings.numbers("fills");
    if (fills_.size() != count)
      bad_config("missing numbers by \"" + settings.text("missing") +
                 "\" are to be learnt, one for each column: dl-preprocess fit "
                 "RECIPE DATA");
  }

  data::Field field() const override {
    return {tensor::DType::kF32,
            {std::ssize(columns_.columns()) * (indicator_ ? 2 : 1)}};
  }

  std::unique_ptr<Workspace> workspace() const override {
    return fills_.empty() ? nullptr : std::make_unique<Workspace>();
  }

  void put(const Record& record, std::int64_t, Workspace* workspace,
           std::span<std::byte> out) const override {
    const std::size_t count = columns_.columns().size();
    const auto set = [&](std::size_t place, double value) {
      const auto stored = static_cast<float>(value);
      std::memcpy(out.data() + place * sizeof stored, &stored, sizeof stored);
    };
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<double> value = columns_.value(record, i);
      if (!value && fills_.empty())
        bad_data("column " + in_quotes(columns_.columns()[i]) +
                 ": a value is missing (\"missing\" of the recipe lets it "
                 "pass)");
      if (!value) ++workspace->filled;
      set(i, change_(value ? *value : fills_[i]));
      if (indicator_) set(count + i, value ? 0 : 1);
    }
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    names = columns_.columns();
    if (!indicator_) return;
    for (const std::string& column : columns_.columns())
      names.push_back(missing_name(column));
  }

 private:
  NumberColumns columns_;
  NumberChange change_;
  bool indicator_;
  std::vector<double> fills_;  // by column; none: a missing one is bad
};

// Learns what stands in for missing numbers.
class NumberLearner : public Learner {
 public:
  explicit NumberLearner(const RecipeSettings& settings)
      : columns_(settings),
        missing_(missing_of(settings)),
        sums_(columns_.columns().size()),
        counts_(columns_.columns().size()) {
    check_fills(settings, sums_.size());
  }

  void see(const Record& record) override {
    std::vector<std::optional<double>> values(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      values[i] = columns_.value(record, i);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (!values[i]) continue;
      if (missing_ == MissingNumber::kMean)
        sums_[i].add(*values[i]);
      else
        counts_[i].add(dump_json(Json(*values[i] + 0.0)));  // no -0
    }
  }

  Json state() const override {
    Json all = Json::array();
    for (std::size_t i = 0; i < sums_.size(); ++i)
      all.push_back(missing_ == MissingNumber::kMean ? sums_[i].state()
                                                     : counts_[i].state());
    return all;
  }

  void merge(const JsonView& state, std::int64_t records) override {
    if (state.size() != sums_.size())
      state.fail("a state for each of " + std::to_string(sums_.size()) +
                 " columns");
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (missing_ == MissingNumber::kMean) {
        sums_[i].merge(state.at(i), records);
      } else {
        check_numbers(state.at(i));
        counts_[i].merge(state.at(i), records);
      }
  }

  void finish(Json& given) const override {
    Json fills = Json::array();
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].count() == 0 && counts_[i].counts().empty())
        bad_data("column " + in_quotes(columns_.columns()[i]) +
                 " has no values to learn from");
      fills.push_back(missing_ == MissingNumber::kMean ? sums_[i].mean()
                                                       : middle(counts_[i]));
    }
    given["fills"] = fills;
  }

 private:
  static void check_numbers(const JsonView& counts) {
    double value = 0;
    for (const auto& [text, times] : counts.raw().items())
      if (!parse_number(text, value) || !std::isfinite(value))
        counts.fail("counts of numbers");
  }

  // The median, or the most frequent value, of several the smallest.
  double middle(const TextCounts& counts) const {
    std::map<double, std::int64_t> values;
    std::int64_t all = 0;
    for (const auto& [text, times] : counts.counts()) {
      double value = 0;
      require(parse_number(text, value), "a count of no number");
      values[value] += times;
      all += times;
    }
    if (missing_ == MissingNumber::kMostFrequent)
      return std::ranges::max_element(
                 values, {}, [](const auto& value) { return value.second; })
          ->first;
    double lower = 0;
    std::int64_t before = 0;
    for (const auto& [value, times] : values) {
      if (before < (all + 1) / 2) lower = value;
      before += times;
      if (before > all / 2) return lower + (value - lower) / 2;
    }
    return lower;
  }

  NumberColumns columns_;
  MissingNumber missing_;
  std::vector<FixedSum> sums_;
  std::vector<TextCounts> counts_;
};

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
              .doc = "A missing number: *fail*, the default, the record is "
                     "bad; *keep*, it stays missing, in a series, whose *gaps* "
                     "says what becomes of it; *value*, the number of that key "
                     "stands in for it; *mean*, "
                     "*median*, *most_frequent* of the column, which a fit "
                     "learns.",
              .words = kMissingWords},
             {.name = "value",
              .kind = KeyKind::kNumber,
              .doc = "The number that stands in for missing ones, 0 by "
                     "default."},
             {.name = "fills",
              .kind = KeyKind::kNumbers,
              .doc = "The numbers that a fit found, one for each column."},
             kIndicatorKey,
             kNaKey,
             {.name = "true",
              .kind = KeyKind::kTexts,
              .doc = "Words that are 1, as yes, beside true."},
             {.name = "false",
              .kind = KeyKind::kTexts,
              .doc = "Words that are 0, as no, beside false."},
             {.name = "clip",
              .kind = KeyKind::kNumbers,
              .doc = "Two numbers: smaller ones become the first, larger ones "
                     "the second."},
             {.name = "log",
              .kind = KeyKind::kBoolean,
              .doc = "Take the logarithm of 1 + x, of a negative number "
                     "-log(1 - x), behind *clip*."}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<NumberVectorizer>(settings);
    },
    .fit = [](const RecipeSettings& settings) -> std::unique_ptr<Learner> {
      if (missing_of(settings) <= MissingNumber::kValue ||
          settings.has("fills"))
        return nullptr;
      return std::make_unique<NumberLearner>(settings);
    }};

}  // namespace dl::vectorize
