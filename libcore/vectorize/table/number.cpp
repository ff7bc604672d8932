// The vectorizer number: columns of numbers to a row of them.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/number_columns.h"
#include "libcore/vectorize/table/number_scale.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

enum class MissingNumber {
  kFail,
  kKeep,
  kPrevious,
  kValue,
  kMean,
  kMedian,
  kMostFrequent
};
constexpr std::string_view kMissingWords[] = {
    "fail", "keep", "previous", "value", "mean", "median", "most_frequent"};

// The column of a record that has the number before a missing one.
std::string previous_name(const std::string& column) {
  return column + "=previous";
}

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
  if (settings.has("value") && missing != MissingNumber::kValue &&
      missing != MissingNumber::kPrevious)
    bad_config("value is for \"missing\": \"value\" or \"previous\"");
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
      : columns_(settings.texts("from"), settings),
        change_(settings),
        scale_(settings, columns_.columns().size()),
        indicator_(settings.has("indicator") && settings.flag("indicator")) {
    const std::size_t count = columns_.columns().size();
    const MissingNumber missing = missing_of(settings);
    check_fills(settings, count);
    if (missing == MissingNumber::kFail) {
      if (indicator_) bad_config(kIndicatorAlone);
      return;
    }
    is_previous_ = missing == MissingNumber::kPrevious;
    last_.resize(is_previous_ ? count : 0);
    if (is_previous_) names_before();
    if (missing == MissingNumber::kKeep ||
        (is_previous_ && !settings.has("value")))
      fills_.assign(count, std::numeric_limits<double>::quiet_NaN());
    else if (missing == MissingNumber::kValue || is_previous_)
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

  bool sees_in_order() const override { return is_previous_; }
  // The number before a missing one becomes a column of the record.
  void complete(Record& record) override {
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (const auto value = columns_.value(record, i))
        last_[i] = dump_json(Json(*value));
      else if (!last_[i].empty())
        (void)record.columns.emplace(before_[i].name(), last_[i]);
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
      const double known = value          ? *value
                           : is_previous_ ? before(record, i)
                                          : fills_[i];
      set(i, scale_(i, change_(known)));
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
  void names_before() {
    for (const std::string& column : columns_.columns())
      before_.emplace_back(previous_name(column));
  }
  double before(const Record& record, std::size_t i) const {
    double value = fills_[i];
    if (record.columns.contains(before_[i].name()))
      (void)parse_number(before_[i].of(record), value);
    if (std::isnan(value))
      bad_data("column " + in_quotes(columns_.columns()[i]) +
               ": a value is missing and there is none before it (\"value\" of "
               "the recipe stands in for it)");
    return value;
  }

  NumberColumns columns_;
  NumberChange change_;
  NumberScale scale_;
  bool indicator_, is_previous_ = false;
  std::vector<double> fills_;  // by column; none: a missing one is bad
  // With "previous": the number of each column that was there last, and where
  // records have it.
  std::vector<std::string> last_;
  std::vector<ColumnOfRecords> before_;
};

bool learns_fills(const RecipeSettings& settings) {
  return missing_of(settings) > MissingNumber::kValue && !settings.has("fills");
}

// How often each number occurs, for those that stand in for missing ones.
class NumberTally {
 public:
  void add(double value, std::int64_t times = 1) {
    counts_[value + 0.0] += times;  // no -0
    check_different(counts_.size());
  }
  bool empty() const { return counts_.empty(); }
  std::map<double, std::int64_t> counts() const {
    return {counts_.begin(), counts_.end()};
  }
  // As of TextCounts, by the texts of the numbers.
  Json state() const {
    TextCounts texts;
    for (const auto& [value, times] : counts_)
      texts.add(dump_json(Json(value)), times);
    return texts.state();
  }
  void merge(const JsonView& state, std::int64_t records) {
    TextCounts texts;
    texts.merge(state, records);
    for (const auto& [text, times] : texts.counts()) {
      double value = 0;
      if (!parse_number(text, value) || !std::isfinite(value))
        state.fail("counts of numbers");
      add(value, times);
    }
  }

 private:
  std::unordered_map<double, std::int64_t> counts_;
};

// Learns what stands in for missing numbers, and scales.
class NumberLearner : public Learner {
 public:
  explicit NumberLearner(const RecipeSettings& settings)
      : columns_(settings.texts("from"), settings),
        change_(settings),
        missing_(missing_of(settings)),
        scales_(settings, columns_.columns().size()),
        sums_(learns_fills(settings) ? columns_.columns().size() : 0),
        counts_(sums_.size()),
        values_(columns_.columns().size()) {
    check_fills(settings, columns_.columns().size());
  }

  void see(const Record& record) override {
    std::vector<std::optional<double>>& values = values_;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = columns_.value(record, i);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) continue;
      scales_.see(i, change_(*values[i]));
      if (sums_.empty()) continue;
      if (missing_ == MissingNumber::kMean)
        sums_[i].add(*values[i]);
      else
        counts_[i].add(*values[i]);
    }
  }

  bool learn(const TableProfile& table) override {
    if (scales_.any()) return false;
    std::vector<const ColumnProfile*> profiles;
    for (const std::string& column : columns_.columns()) {
      const ColumnProfile* own = table.find(column);
      if (own == nullptr || !(own->is_counted() || has_sum(*own))) return false;
      profiles.push_back(own);
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) learn(*profiles[i], i);
    return true;
  }

  Json state() const override {
    Json all = Json::array();
    for (std::size_t i = 0; i < sums_.size(); ++i)
      all.push_back(missing_ == MissingNumber::kMean ? sums_[i].state()
                                                     : counts_[i].state());
    if (!scales_.any()) return all;
    return {{"fills", all}, {"scales", scales_.state()}};
  }

  void merge(const JsonView& state, std::int64_t records) override {
    if (!scales_.any()) return merge_fills(state, records);
    state.only({"fills", "scales"});
    merge_fills(state.at("fills"), records);
    scales_.merge(state.at("scales"), records);
  }

  void finish(Json& given) const override {
    scales_.finish(columns_.columns(), given);
    if (sums_.empty()) return;
    Json fills = Json::array();
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].count() == 0 && counts_[i].empty())
        bad_data("column " + in_quotes(columns_.columns()[i]) +
                 " has no values to learn from");
      fills.push_back(missing_ == MissingNumber::kMean ? sums_[i].mean()
                                                       : middle(counts_[i]));
    }
    given["fills"] = fills;
  }

 private:
  // Whether the sum of a column is all that is wanted of it.
  bool has_sum(const ColumnProfile& column) const {
    return missing_ == MissingNumber::kMean && column.sum() != nullptr;
  }

  void learn(const ColumnProfile& column, std::size_t i) {
    const auto add = [&](std::string_view text, std::int64_t times) {
      const auto value = columns_.value_of(text, i);
      if (value && missing_ == MissingNumber::kMean)
        sums_[i].add(*value, times);
      else if (value)
        counts_[i].add(*value, times);
    };
    if (column.is_counted()) return column.each_value(add);
    sums_[i] = *column.sum();
    for (const std::string& word : column.strays()) add(word, 1);
    if (sums_[i].count() != column.sum()->count())
      bad_data("a word among numbers is one");
  }

  void merge_fills(const JsonView& state, std::int64_t records) {
    if (state.size() != sums_.size())
      state.fail("a state for each of " + std::to_string(sums_.size()) +
                 " columns");
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (missing_ == MissingNumber::kMean)
        sums_[i].merge(state.at(i), records);
      else
        counts_[i].merge(state.at(i), records);
  }

  // The median, or the most frequent value, of several the smallest.
  double middle(const NumberTally& counts) const {
    const std::map<double, std::int64_t> values = counts.counts();
    std::int64_t all = 0;
    for (const auto& [value, times] : values) all += times;
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
  NumberChange change_;
  MissingNumber missing_;
  ScaleLearner scales_;
  std::vector<FixedSum> sums_;  // none: fills are not learnt
  std::vector<NumberTally> counts_;
  std::vector<std::optional<double>> values_;  // of a record
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
                     "stands in for it; *previous*, the number before it in "
                     "the column, of the first ones *value*, if it is given; "
                     "*mean*, "
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
                     "-log(1 - x), behind *clip*."},
             kScaleKeys[0],
             kScaleKeys[1],
             kScaleKeys[2],
             kScaleKeys[3],
             kScaleKeys[4],
             kScaleKeys[5]},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<NumberVectorizer>(settings);
    },
    .fit = [](const RecipeSettings& settings) -> std::unique_ptr<Learner> {
      if (!learns_fills(settings) && !NumberScale::is_to_be_learnt(settings))
        return nullptr;
      return std::make_unique<NumberLearner>(settings);
    }};

}  // namespace dl::vectorize
