// The vectorizer date: parts of a date and time of day to a row of numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

// A part of a date, and the round that it comes again in; 0: it does not.
struct DatePart {
  std::string_view name;
  std::int64_t first = 0, period = 0;
  std::int64_t CivilTime::*place = nullptr;  // null: days since a date
};
constexpr std::array<DatePart, 8> kDateParts = {
    {{"year", 0, 0, &CivilTime::year},
     {"month", 1, 12, &CivilTime::month},
     {"day", 1, 31, &CivilTime::day},
     {"yearday", 1, 366, &CivilTime::yearday},
     {"weekday", 0, 7, &CivilTime::weekday},
     {"hour", 0, 24, &CivilTime::hour},
     {"minute", 0, 60, &CivilTime::minute},
     {"days", 0, 0, nullptr}}};

struct Point {
  double sine, cosine;
};
struct WantedPart : DatePart {
  std::vector<Point> circle = {};  // of each place in the round
};

std::vector<WantedPart> parts_of(const RecipeSettings& settings) {
  std::vector<WantedPart> parts;
  std::string all;
  for (const DatePart& part : kDateParts)
    all.append(all.empty() ? "" : ", ").append(part.name);
  for (const std::string& name : settings.texts("parts")) {
    const auto found = std::ranges::find(kDateParts, name, &DatePart::name);
    if (found == kDateParts.end())
      bad_config("parts: want some of " + all + ", got " + in_quotes(name));
    parts.push_back({*found});
    for (std::int64_t i = 0; i < found->period; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) /
                           static_cast<double>(found->period);
      parts.back().circle.push_back({std::sin(angle), std::cos(angle)});
    }
  }
  return parts;
}

// A date that a key has, in ISO 8601.
Seconds date_of_key(const RecipeSettings& settings, const char* key) {
  const auto time = DateFormat(DateFormat::kIso).parse(settings.text(key));
  if (!time)
    bad_config(std::string(key) + " wants a date, as 2024-12-31, got " +
               in_quotes(settings.text(key)));
  return *time;
}

// The date that a column of a record holds as text.
class DateColumn {
 public:
  explicit DateColumn(const RecipeSettings& settings)
      : column_(settings.text("from")),
        format_(settings.text("format")),
        words_(settings) {}

  const std::string& name() const { return column_.name(); }
  // None: it is missing.  Throws Error: kData, it is no date.
  std::optional<Seconds> value(const Record& record) const {
    return value_of(trim(column_.of(record)));
  }
  std::optional<Seconds> value_of(std::string_view text) const {
    if (words_.contain(text)) return std::nullopt;
    const auto time = format_.parse(text);
    if (!time)
      bad_data("column " + in_quotes(name()) + ": want a date as " +
               format_.text() + ", got '" + clipped(text) + "'");
    return time;
  }

 private:
  ColumnOfRecords column_;
  DateFormat format_;
  MissingWords words_;
};

constexpr std::string_view kMissingDates[] = {"fail", "median"};

bool fills_dates(const RecipeSettings& settings) {
  return settings.has("missing") &&
         settings.word("missing", kMissingDates) == 1;
}

class DateVectorizer : public Vectorizer {
 public:
  explicit DateVectorizer(const RecipeSettings& settings)
      : column_(settings),
        parts_(parts_of(settings)),
        cyclic_(settings.flag("cyclic")),
        indicator_(settings.has("indicator") && settings.flag("indicator")),
        since_(date_of_key(settings, "since")) {
    const bool fills = fills_dates(settings);
    if (indicator_ && !fills) bad_config(kIndicatorAlone);
    if (settings.has("fill") && !fills)
      bad_config("fill is for \"missing\": \"median\"");
    if (fills && !settings.has("fill"))
      bad_config(
          "missing dates by \"median\" are to be learnt: dl-preprocess fit "
          "RECIPE DATA");
    if (fills) fill_ = date_of_key(settings, "fill");
  }

  data::Field field() const override {
    std::int64_t columns = indicator_ ? 1 : 0;
    for (const DatePart& part : parts_) columns += is_circle(part) ? 2 : 1;
    return {tensor::DType::kF32, {columns}};
  }

  std::unique_ptr<Workspace> workspace() const override {
    return fill_ ? std::make_unique<Workspace>() : nullptr;
  }

  void put(const Record& record, std::int64_t, Workspace* workspace,
           std::span<std::byte> out) const override {
    const std::optional<Seconds> value = column_.value(record);
    if (!value && !fill_)
      bad_data("column " + in_quotes(column_.name()) +
               ": a date is missing (\"missing\" of the recipe lets it pass)");
    if (!value) ++workspace->filled;
    const Seconds time = value ? *value : *fill_;
    const CivilTime civil = civil_time(time);
    const auto add = [&](double number) {
      const auto stored = static_cast<float>(number);
      std::memcpy(out.data(), &stored, sizeof stored);
      out = out.subspan(sizeof stored);
    };
    constexpr double kDay = 86400;
    for (const WantedPart& part : parts_) {
      if (part.place == nullptr) {
        add(static_cast<double>(time - since_) / kDay);
        continue;
      }
      const auto number = static_cast<double>(civil.*part.place);
      if (!is_circle(part)) {
        add(number);
        continue;
      }
      const Point& point =
          part.circle[static_cast<std::size_t>(civil.*part.place - part.first)];
      add(point.sine);
      add(point.cosine);
    }
    if (indicator_) add(value ? 0 : 1);
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    for (const DatePart& part : parts_) {
      const std::string name = column_.name() + "." + std::string(part.name);
      names.push_back(is_circle(part) ? name + ".sin" : name);
      if (is_circle(part)) names.push_back(name + ".cos");
    }
    if (indicator_) names.push_back(missing_name(column_.name()));
  }

 private:
  bool is_circle(const DatePart& part) const {
    return cyclic_ && part.period > 0;
  }

  DateColumn column_;
  std::vector<WantedPart> parts_;
  bool cyclic_, indicator_;
  Seconds since_;
  std::optional<Seconds> fill_;  // none: a missing one is bad
};

// Learns the median, of two in the middle the earlier.
class DateLearner : public Learner {
 public:
  explicit DateLearner(const RecipeSettings& settings)
      : column_(settings), check_(parts_of(settings)) {}

  void see(const Record& record) override {
    if (const auto time = column_.value(record))
      counts_.add(std::to_string(*time));
  }
  bool learn(const TableProfile& table) override {
    const ColumnProfile* own = table.find(column_.name());
    if (own == nullptr || !own->is_counted()) return false;
    own->each_value([&](std::string_view text, std::int64_t times) {
      if (const auto time = column_.value_of(text))
        counts_.add(std::to_string(*time), times);
    });
    return true;
  }
  Json state() const override { return counts_.state(); }
  void merge(const JsonView& state, std::int64_t records) override {
    TextCounts own;
    own.merge(state, records);
    std::int64_t time = 0;
    constexpr std::int64_t kMost = 400'000'000'000;  // years of four digits
    for (const auto& [text, times] : own.counts())
      if (!parse_integer(text, time) || std::abs(time) > kMost)
        state.fail("counts of seconds");
    counts_.merge(state, records);
  }
  void finish(Json& given) const override {
    std::map<Seconds, std::int64_t> times;
    std::int64_t all = 0;
    for (const auto& [text, count] : counts_.counts()) {
      std::int64_t time = 0;
      require(parse_integer(text, time), "a count of no date");
      times[time] += count;
      all += count;
    }
    if (all == 0)
      bad_data("column " + in_quotes(column_.name()) +
               " has no values to learn from");
    for (std::int64_t before = 0; const auto& [time, count] : times)
      if ((before += count) >= (all + 1) / 2) {
        given["fill"] = date_text(time);
        return;
      }
  }

 private:
  DateColumn column_;
  std::vector<WantedPart> check_;
  TextCounts counts_;
};

}  // namespace

extern const VectorizerType date_vectorizer;
const VectorizerType date_vectorizer = {
    .name = "date",
    .words =
        "Parts of a date, or of a date with a time of day, as F32 "
        "[numbers].",
    .keys =
        {{.name = "from", .fallback = "", .doc = "The column."},
         {.name = "format",
          .fallback = "\"%Y-%m-%d\"",
          .doc = "The date as *strptime*(3) has it, of %Y, %y, %m, %d, %b (an "
                 "English name), %j, %q (the quarter, as in 2024Q3), %H, %I, "
                 "%M, %S, "
                 "%p (AM or PM) and %z. Behind one with a day and without %H a "
                 "time of day may follow, as T17:05:09 or 17:05; with "
                 "an offset, as +02:00 or Z, it becomes UTC."},
         {.name = "parts",
          .kind = KeyKind::kTexts,
          .fallback = "[\"days\", \"month\", \"weekday\"]",
          .doc = "The numbers: *year*, *month* (1-12), *day* (1-31), *yearday* "
                 "(1-366), *weekday* (0-6 from Monday on), *hour*, *minute*, "
                 "and *days*, with their fraction, after *since*."},
         {.name = "cyclic",
          .kind = KeyKind::kBoolean,
          .fallback = "true",
          .doc = "Parts that come again, all but year and days, become sine "
                 "and cosine of their place in the round, so that December is "
                 "beside January."},
         {.name = "since",
          .fallback = "\"1970-01-01\"",
          .doc = "The date that *days* count from."},
         {.name = "missing",
          .kind = KeyKind::kOneOf,
          .doc = "A missing date: *fail*, the default, the record is bad; "
                 "*median*, that of the column, which a fit learns, stands in "
                 "for it.",
          .words = kMissingDates},
         {.name = "fill", .doc = "The date that a fit found."},
         kIndicatorKey,
         kNaKey},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<DateVectorizer>(settings);
    },
    .fit = [](const RecipeSettings& settings) -> std::unique_ptr<Learner> {
      if (!fills_dates(settings) || settings.has("fill")) return nullptr;
      return std::make_unique<DateLearner>(settings);
    }};

}  // namespace dl::vectorize
