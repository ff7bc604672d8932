// Learning of one vectorizer from the records of a data set, before it is made.
//
// The result depends on the records alone, neither on their order nor on the
// parts that they come in; but classes of labels have the order of the records,
// so parts are merged in theirs.

#ifndef DL_LIBCORE_VECTORIZE_LEARNER_H_
#define DL_LIBCORE_VECTORIZE_LEARNER_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/json.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/record.h"

namespace dl::vectorize {

struct TableProfile;

class Learner {
 public:
  virtual ~Learner() = default;
  // Throws Error: kData, there is nothing to learn from the record, of which
  // nothing was taken then.
  virtual void see(const Record& record) = 0;
  // Learns from all rows of a table that was looked at before; false: too
  // little is known of its columns, and nothing was learnt.
  // Throws Error: kData, there is nothing to learn from a value.
  virtual bool learn(const TableProfile& table) {
    static_cast<void>(table);
    return false;
  }
  // All that was learnt, for merge().
  virtual Json state() const = 0;
  // Adds what another learner of the same settings learnt of so many records.
  // Throws Error: kData, it cannot have learnt that of them.
  virtual void merge(const JsonView& state, std::int64_t records) = 0;
  // Writes the result into the object of the vectorizer.
  // Throws Error: kData, there is none.
  virtual void finish(Json& given) const = 0;
};

// Throws Error: kConfig, a column has too many different values to learn.
void check_different(std::size_t values);

// How often each text occurs.
class TextCounts {
 public:
  // Throws Error: kConfig, there are too many different ones.
  void add(std::string_view text, std::int64_t times = 1);
  bool empty() const { return counts_.empty(); }
  std::map<std::string, std::int64_t> counts() const;
  Json state() const { return counts(); }
  void merge(const JsonView& state, std::int64_t records);

 private:
  NumbersByName<std::int64_t> counts_;
};

// A sum of finite doubles without rounding, whatever their order.
class FixedSum {
 public:
  void add(double value, std::int64_t times = 1);
  // Adds a * b without rounding, as one value.
  void add_product(double a, double b);
  // Adds the sum of others, times a factor, without counting them.
  void add_multiple(const FixedSum& other, double factor);
  std::int64_t count() const { return count_; }
  double mean() const;
  Json state() const;
  // most: of the mean.
  void merge(const JsonView& state, std::int64_t records,
             double most = std::numeric_limits<float>::max());

 private:
  void put(double value, std::int64_t times = 1);
  void carry();
  bool make_positive();
  // Digits of 32 bits from 2^-1074 on, each with a sign of its own.
  static constexpr std::size_t kDigits = 68;
  std::array<std::int64_t, kDigits> digits_{};
  std::int64_t count_ = 0;
  std::int64_t open_ = 0;  // values that were added since the last carry()
};

// Mean and variance of numbers, without rounding but of the results.
class Moments {
 public:
  void add(double value);
  std::int64_t count() const { return sum_.count(); }
  double mean() const { return sum_.mean(); }
  double variance() const;  // of the population
  Json state() const;
  void merge(const JsonView& state, std::int64_t records);

 private:
  FixedSum sum_, squares_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_LEARNER_H_
