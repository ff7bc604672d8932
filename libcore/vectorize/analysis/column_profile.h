// All that is known of a column of a table after its rows were seen, in bounded
// memory.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_COLUMN_PROFILE_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_COLUMN_PROFILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/quantiles.h"
#include "libcore/vectorize/analysis/value_counts.h"
#include "libcore/vectorize/learner.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize {

enum class ColumnType {
  kEmpty,     // has no values
  kConstant,  // one value in all rows
  kInteger,
  kNumber,
  kBoolean,  // two words, such as yes and no
  kDate,
  kCategory,  // words that come again
  kId,        // every row has one of its own
  kText
};
// "integer", "date", ...
std::string_view name_of(ColumnType type);

// Told of a column that looks_like_comma_numbers().
inline constexpr const char* kCommaNumbers =
    "most values look like numbers, some with commas: for a number, want a "
    "recipe with the column in \"thousands_of\" of its source, or "
    "\"decimal_of\", see dl-recipe(5)";

// Words that count as missing values, beside an empty field.
std::vector<std::string> usual_missing_words();

class ColumnProfile {
 public:
  // Different values that are told apart; of more, only that they are more.
  // Until there are more, each is understood once, and its rows are counted.
  static constexpr std::size_t kMostValues = 1 << 14;

  explicit ColumnProfile(std::string name);

  void see(std::string_view text, bool is_missing) {
    see(text, is_missing, value_digest(text));
  }
  // digest: value_digest() of the text.
  void see(std::string_view text, bool is_missing, std::uint64_t digest);
  // Its values are words of a category, whatever they look like.
  void declare_words() { are_words_ = true; }
  // Brings statistics up to date, as whatever asks for them wants them.
  void settle();
  void see_missing(std::int64_t rows) { rows_ += rows, missing_ += rows; }
  // Counts these words among its numbers or dates as missing from now on, even
  // if they are too many for strays().
  void take_as_missing(const std::vector<std::string>& words);
  // Adds the rows of a later part of the table.
  void merge(const ColumnProfile& next);

  const std::string& name() const { return name_; }
  ColumnType type() const;
  std::int64_t rows() const { return rows_; }
  std::int64_t missing() const { return missing_; }
  std::int64_t present() const { return rows_ - missing_; }
  // kMostValues + 1: more.
  std::size_t distinct() const;
  bool is_counted() const { return !overflowed_; }  // every different value
  // Whether values come less than twice on the average.
  bool is_nearly_unique() const;
  // The values that occur most often, with their counts; of as many, in byte
  // order.  Of the first kMostValues different ones; of more numbers, none.
  std::vector<std::pair<std::string, std::int64_t>> top(std::size_t most) const;
  // Gives each different value with its rows, in the order in which they came;
  // is_counted().
  void each_value(const std::function<void(std::string_view text,
                                           std::int64_t times)>& take) const {
    for (const ValueCounts::Entry& entry : values_.entries())
      take(entry.text, entry.count);
  }
  // All values: numbers by their size, else in byte order.
  std::vector<std::string> sorted_values() const;

  // But for strays(), none of which is a number with thousands; also of an id.
  bool are_nearly_numbers() const;
  // Statistics of numbers.
  double min() const { return min_; }
  double max() const { return max_; }
  double mean() const { return mean_; }
  double deviation() const;  // of the population
  std::int64_t zeros() const { return zeros_; }
  // The sum of a column of numbers, but for strays(), which merge() and state()
  // lack; null: of another one.
  const FixedSum* sum() const {
    return are_nearly_numbers() && sum_.count() == numbers_ ? &sum_ : nullptr;
  }
  // Integers that a double rounds.
  bool has_long_integers() const { return has_long_integers_; }
  const Quantiles& quantiles() const { return quantiles_; }
  // Whether most values of a column of words are numbers, and some of them have
  // commas, between thousands or before decimals; merge() adds these, state()
  // lacks them.
  bool looks_like_comma_numbers() const;
  // Few words among numbers or dates, which are more likely missing values.
  std::vector<std::string> strays() const;

  // Format of dates; null: not all values but strays are dates of one format.
  const char* date_format() const;
  bool has_other_date_format() const;  // day and month may be swapped
  // Most values are dates, and not of one format.
  bool has_mixed_dates() const;
  bool has_time() const { return has_time_; }
  // The first date and the last one of date_format(); none: it is null, or an
  // earlier program saved the column.
  struct DateRange {
    Seconds first, last;
  };
  std::optional<DateRange> date_range() const;

  std::size_t longest() const { return longest_; }  // bytes
  // The words that are 1, or 0, of booleans.
  std::vector<std::string> words(bool truth) const;
  // How often a value occurs, of those that are told apart.
  std::int64_t count_of(const std::string& value) const;

  // All of it, for a file; of more than kMostValues different values, the most
  // frequent kKeptValues.
  static constexpr std::size_t kKeptValues = 1000;
  Json state() const;
  // Throws Error: kData, no state() is like this.
  static ColumnProfile of_state(const JsonView& json);

 private:
  // times: rows with this value.
  void see_kind(std::string_view text, std::int64_t times);
  void see_number(double value, std::int64_t times);
  void see_date(std::string_view text, std::int64_t times);
  void understand(std::string_view text, std::int64_t times);
  void see_order(std::string_view text);
  void overflow();
  bool are_numbers() const { return present() > 0 && numbers_ == present(); }
  std::int64_t dated() const;  // dates, if there are only strays beside
  bool is_id() const;
  void see_date_of(std::size_t format, Seconds date, std::int64_t times);

  Json ranges_json() const;
  void take_ranges(const JsonView& json);

  // Words that are no numbers, or no dates, while they are few.
  struct Others {
    std::map<std::string, std::int64_t> words;
    void add(std::string_view word, std::int64_t times = 1);
    // Whether so many values may be of the kind, but for a few words.
    bool are_strays(std::int64_t present) const;
  };

  std::string name_;
  std::int64_t rows_ = 0, missing_ = 0;
  std::int64_t comma_numbers_ = 0;  // no numbers_
  std::int64_t numbers_ = 0, integers_ = 0, booleans_ = 0, zeros_ = 0;
  double min_ = 0, max_ = 0, mean_ = 0, squares_ = 0, first_ = 0, last_ = 0;
  // Each number is one more than that before it; first_ and last_ are of these.
  bool counts_up_ = true, has_order_ = false;
  FixedSum sum_;
  Quantiles quantiles_;
  ValueCounts values_;
  Others no_numbers_, no_dates_;
  bool are_words_ = false;  // whatever they look like
  bool has_long_integers_ = false;
  bool overflowed_ = false;
  bool repeated_ = false;            // before it overflowed
  std::int64_t told_apart_ = 0;      // rows with one of the values
  std::vector<std::int64_t> dates_;  // values of each of known_date_formats()
  // The range of each of them; first > last: it has no values.
  std::vector<DateRange> ranges_;
  std::int64_t any_dates_ = 0;  // of any of them
  std::int64_t looked_at_ = 0;  // of which that is known
  bool has_time_ = false, has_spaces_ = false;
  std::size_t longest_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_COLUMN_PROFILE_H_
