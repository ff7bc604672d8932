#include "libcore/vectorize/steps/aggregates.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class CountOf : public Reduced {
 public:
  void take(const TakenValue& taken) override {
    const Value& value = taken.value;
    if (!value.missing) ++count_;
  }
  Value result() const override { return Value::of_number(count_); }

 private:
  double count_ = 0;
};

// Sum, mean, deviation: in one pass, each correction carried along.
class MomentsOf : public Reduced {
 public:
  enum Moment { kSum, kMean, kVariance, kDeviation };
  explicit MomentsOf(Moment moment) : moment_(moment) {}
  void take(const TakenValue& taken) override {
    const Value& value = taken.value;
    if (value.missing) return;
    ++count_;
    const double sum = sum_ + value.number;
    rest_ += std::abs(sum_) >= std::abs(value.number)
                 ? (sum_ - sum) + value.number
                 : (value.number - sum) + sum_;
    sum_ = sum;
    const double delta = value.number - mean_;
    mean_ += delta / count_;
    squares_ += delta * (value.number - mean_);
  }
  Value result() const override {
    if (count_ == 0) return {};
    const double sum = sum_ + rest_;
    switch (moment_) {
      case kSum:
        return Value::of_result(sum);
      case kMean:
        return Value::of_result(sum / count_);
      case kVariance:
        return Value::of_result(squares_ / (count_ - 1));
      case kDeviation:
        return Value::of_result(std::sqrt(squares_ / (count_ - 1)));
    }
    return {};
  }

 private:
  Moment moment_;
  double count_ = 0, sum_ = 0, rest_ = 0, mean_ = 0, squares_ = 0;
};

class ProductOf : public Reduced {
 public:
  void take(const TakenValue& taken) override {
    const Value& value = taken.value;
    if (value.missing) return;
    any_ = true;
    product_ *= value.number;
  }
  Value result() const override {
    return any_ ? Value::of_result(product_) : Value();
  }

 private:
  bool any_ = false;
  double product_ = 1;
};

class ExtremeOf : public Reduced {
 public:
  explicit ExtremeOf(bool is_largest) : is_largest_(is_largest) {}
  void take(const TakenValue& taken) override {
    const Value& value = taken.value;
    if (value.missing) return;
    if (best_.missing || (is_largest_ ? value.number > best_.number
                                      : value.number < best_.number))
      best_ = Value::of_number(value.number);
  }
  Value result() const override { return best_; }

 private:
  bool is_largest_;
  Value best_;
};

// As NumPy has it: between the two in the middle.
class MedianOf : public Reduced {
 public:
  void take(const TakenValue& taken) override {
    const Value& value = taken.value;
    if (!value.missing) values_.push_back(value.number);
  }
  Value result() const override {
    if (values_.empty()) return {};
    std::vector<double> own = values_;
    const auto middle = own.begin() + std::ssize(own) / 2;
    std::ranges::nth_element(own, middle);
    if (own.size() % 2 == 1) return Value::of_number(*middle);
    return Value::of_result((*std::max_element(own.begin(), middle) + *middle) /
                            2);
  }

 private:
  std::vector<double> values_;
};

class EndOf : public Reduced {
 public:
  explicit EndOf(bool is_last) : is_last_(is_last) {}
  void take(const TakenValue& taken) override {
    const auto& [value, text] = taken;
    if (value.missing || (!is_last_ && !value_.missing)) return;
    text_ = text;
    value_ = value;
  }
  Value result() const override {
    Value value = value_;
    value.text = text_;
    return value;
  }

 private:
  bool is_last_;
  Value value_;
  std::string text_;
};

class DistinctOf : public Reduced {
 public:
  void take(const TakenValue& taken) override {
    const auto& [value, text] = taken;
    if (!value.missing) seen_.emplace(text);
  }
  Value result() const override {
    return Value::of_number(static_cast<double>(seen_.size()));
  }

 private:
  std::unordered_set<std::string> seen_;
};

enum class Takes { kAnything, kOrdered, kNumbers };
struct AggregateKind {
  std::string_view name;
  Takes takes;
  bool keeps_type;  // of what it reduces
  std::unique_ptr<Reduced> (*start)();
};
template <typename Made, auto... kArguments>
std::unique_ptr<Reduced> started() {
  return std::make_unique<Made>(kArguments...);
}
constexpr AggregateKind kAggregates[] = {
    {"count", Takes::kAnything, false, started<CountOf>},
    {"nunique", Takes::kAnything, false, started<DistinctOf>},
    {"first", Takes::kAnything, true, started<EndOf, false>},
    {"last", Takes::kAnything, true, started<EndOf, true>},
    {"sum", Takes::kNumbers, false, started<MomentsOf, MomentsOf::kSum>},
    {"mean", Takes::kNumbers, false, started<MomentsOf, MomentsOf::kMean>},
    {"min", Takes::kOrdered, true, started<ExtremeOf, false>},
    {"max", Takes::kOrdered, true, started<ExtremeOf, true>},
    {"median", Takes::kNumbers, false, started<MedianOf>},
    {"std", Takes::kNumbers, false, started<MomentsOf, MomentsOf::kDeviation>},
    {"var", Takes::kNumbers, false, started<MomentsOf, MomentsOf::kVariance>},
    {"prod", Takes::kNumbers, false, started<ProductOf>}};

}  // namespace

std::string names_of_aggregates() {
  std::string all;
  for (const AggregateKind& kind : kAggregates)
    all.append(all.empty() ? "" : ", ").append(kind.name);
  return all;
}

Aggregate::Aggregate(const std::string& text, StepColumns& columns) {
  const std::string_view trimmed = trim(text);
  const std::size_t open = std::min(trimmed.find('('), trimmed.size());
  const std::string name(trim(trimmed.substr(0, open)));
  const auto* kind = std::ranges::find(kAggregates, name, &AggregateKind::name);
  if (kind == std::end(kAggregates) || !trimmed.ends_with(')')) {
    std::vector<std::string> names;
    for (const AggregateKind& known : kAggregates)
      names.emplace_back(known.name);
    const std::string near = nearest(name, names);
    bad_config(in_quotes(text) + ": want one of " + names_of_aggregates() +
               ", of a column or formula, as sum(price)" +
               (near.empty() || near == name
                    ? ""
                    : "; did you mean " + in_quotes(near) + "?"));
  }
  kind_ = static_cast<std::size_t>(kind - std::begin(kAggregates));
  const std::string_view inside =
      trim(trimmed.substr(open + 1, trimmed.size() - open - 2));
  if (inside.empty() && name != "count")
    bad_config(in_quotes(text) + ": want a column or formula in parentheses");
  if (inside.empty()) return;
  formula_.emplace(inside, columns);
  const ValueType own = formula_->type();
  const bool is_any = own == ValueType::kAny;
  const bool fits = is_any || kind->takes == Takes::kAnything ||
                    own == ValueType::kNumber || own == ValueType::kTruth ||
                    (kind->takes == Takes::kOrdered && own == ValueType::kDate);
  if (!fits)
    bad_config(in_quotes(text) + " wants numbers, got " +
               std::string(name_of(own)));
  if (is_any && kind->takes != Takes::kAnything)
    formula_.emplace(inside, columns, ValueType::kNumber);
  if (kind->keeps_type) type_ = formula_->type();
}

std::unique_ptr<Reduced> Aggregate::start() const {
  return kAggregates[kind_].start();
}

TakenValue Aggregate::value(Cells row, Scratch& scratch) const {
  if (!formula_) return {Value::of_number(1), {}};
  const Value value = formula_->run(row, scratch);
  return {value, text_of(value, formula_->type(), scratch)};
}

}  // namespace dl::vectorize
