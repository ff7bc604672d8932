#include "libcore/vectorize/analysis/association.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kMostClassesTold = 50;

// The classes of a column: its most frequent values, all others, missing.
class ClassesOfColumn {
 public:
  explicit ClassesOfColumn(const ColumnProfile& column) {
    for (const auto& [value, times] : column.top(kMostClassesTold))
      values_.push_back(value);
    std::ranges::sort(values_);
  }
  std::size_t size() const { return values_.size() + 2; }
  std::size_t of(std::string_view text, bool is_missing) const {
    if (is_missing) return values_.size() + 1;
    const auto found = std::ranges::lower_bound(values_, text);
    return found != values_.end() && *found == text
               ? static_cast<std::size_t>(found - values_.begin())
               : values_.size();
  }

 private:
  std::vector<std::string> values_;
};

// A column or the label in a row.
struct RowValue {
  bool is_missing = true;
  double number = 0;
  std::size_t of_classes = 0;
};

class Pairing {
 public:
  virtual ~Pairing() = default;
  virtual void add(const RowValue& column, const RowValue& label) = 0;
  virtual std::optional<Association> result() const = 0;
};

class NumberPairing : public Pairing {
 public:
  void add(const RowValue& column, const RowValue& label) override {
    if (column.is_missing || label.is_missing) return;
    ++count_;
    const auto n = static_cast<double>(count_);
    const double x = column.number - mean_x_, y = label.number - mean_y_;
    mean_x_ += x / n;
    mean_y_ += y / n;
    xx_ += x * (column.number - mean_x_);
    yy_ += y * (label.number - mean_y_);
    xy_ += x * (label.number - mean_y_);
  }
  std::optional<Association> result() const override {
    if (!(xx_ > 0 && yy_ > 0)) return std::nullopt;
    return Association{"pearson",
                       std::clamp(xy_ / std::sqrt(xx_ * yy_), -1.0, 1.0)};
  }

 private:
  std::int64_t count_ = 0;
  double mean_x_ = 0, mean_y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

// Numbers by classes.
class RatioPairing : public Pairing {
 public:
  RatioPairing(std::size_t classes, bool number_is_label)
      : groups_(classes), number_is_label_(number_is_label) {}

  void add(const RowValue& column, const RowValue& label) override {
    const RowValue& of_number = number_is_label_ ? label : column;
    const RowValue& of_class = number_is_label_ ? column : label;
    // A missing label tells nothing; a missing word of a column may.
    if (of_number.is_missing || label.is_missing) return;
    for (Group* group : {&groups_[of_class.of_classes], &all_}) {
      ++group->count;
      const double before = of_number.number - group->mean;
      group->mean += before / static_cast<double>(group->count);
      group->squares += before * (of_number.number - group->mean);
    }
  }
  std::optional<Association> result() const override {
    std::vector<const Group*> used;
    double within = 0;
    for (const Group& group : groups_) {
      if (group.count == 0) continue;
      used.push_back(&group);
      within += group.squares;
    }
    if (used.size() < 2 || !(all_.squares > 0)) return std::nullopt;
    const double eta =
        std::sqrt(std::clamp(1 - within / all_.squares, 0.0, 1.0));
    if (used.size() > 2) return Association{"correlation_ratio", eta};
    return Association{"point_biserial",
                       used[1]->mean < used[0]->mean ? -eta : eta};
  }

 private:
  struct Group {
    std::int64_t count = 0;
    double mean = 0, squares = 0;
  };
  std::vector<Group> groups_;
  Group all_;
  bool number_is_label_;
};

class ClassPairing : public Pairing {
 public:
  ClassPairing(std::size_t rows, std::size_t columns)
      : counts_(rows * columns), columns_(columns) {}

  void add(const RowValue& column, const RowValue& label) override {
    if (!label.is_missing)
      ++counts_[column.of_classes * columns_ + label.of_classes];
  }
  std::optional<Association> result() const override {
    std::vector<double> rows(counts_.size() / columns_), columns(columns_);
    double n = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto count = static_cast<double>(counts_[i]);
      rows[i / columns_] += count;
      columns[i % columns_] += count;
      n += count;
    }
    double chi = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double expected = rows[i / columns_] * columns[i % columns_] / n;
      const double off = static_cast<double>(counts_[i]) - expected;
      if (expected > 0) chi += off * off / expected;
    }
    const auto used = [](const std::vector<double>& sums) {
      return static_cast<double>(
          std::ranges::count_if(sums, [](double sum) { return sum > 0; }));
    };
    const double r = used(rows), k = used(columns);
    if (r < 2 || k < 2 || n < 2) return std::nullopt;
    const auto without_bias = [&](double classes) {
      return classes - (classes - 1) * (classes - 1) / (n - 1);
    };
    const double phi = std::max(0.0, chi / n - (k - 1) * (r - 1) / (n - 1));
    const double most = std::min(without_bias(r), without_bias(k)) - 1;
    if (!(most > 0)) return std::nullopt;
    return Association{"cramers_v", std::min(1.0, std::sqrt(phi / most))};
  }

 private:
  std::vector<std::int64_t> counts_;
  std::size_t columns_;
};

bool is_measured(const ColumnProfile& column) {
  return column.type() == ColumnType::kInteger ||
         column.type() == ColumnType::kNumber;
}

bool is_classed(const ColumnProfile& column) {
  return column.type() == ColumnType::kBoolean ||
         column.type() == ColumnType::kCategory;
}

// Reads a column of a row as what it is.
class ColumnReading {
 public:
  ColumnReading(const ColumnProfile& column, bool is_number)
      : name_(column.name()), is_number_(is_number), classes_(column) {
    if (column.type() == ColumnType::kDate)
      dates_ = DateFormat(column.date_format());
  }

  const std::string& name() const { return name_; }
  bool is_number() const { return is_number_; }
  const ClassesOfColumn& classes() const { return classes_; }
  RowValue of(const Record& record,
              const std::set<std::string, std::less<>>& missing) {
    RowValue value;
    const auto found = record.columns.find(name_, hint_);
    const std::string_view text = found ? trim(*found) : std::string_view();
    value.is_missing = missing.contains(text);
    if (is_number_)
      value.is_missing = value.is_missing || !to_number(text, value.number);
    else
      value.of_classes = classes_.of(text, value.is_missing);
    return value;
  }

 private:
  // A date is the seconds since 1970.
  bool to_number(std::string_view text, double& number) const {
    if (!dates_) return parse_number(text, number) && std::isfinite(number);
    const auto seconds = dates_->parse(text);
    if (seconds) number = static_cast<double>(*seconds);
    return seconds.has_value();
  }

  std::string name_;
  bool is_number_;
  ClassesOfColumn classes_;
  std::optional<DateFormat> dates_;
  std::size_t hint_ = 0;
};

std::unique_ptr<Pairing> pairing_of(const ColumnReading& column,
                                    const ColumnReading& label) {
  if (column.is_number() && label.is_number())
    return std::make_unique<NumberPairing>();
  if (column.is_number() || label.is_number())
    return std::make_unique<RatioPairing>(
        (label.is_number() ? column : label).classes().size(),
        label.is_number());
  return std::make_unique<ClassPairing>(column.classes().size(),
                                        label.classes().size());
}

}  // namespace

std::string measure_text(const std::string& measure) {
  if (measure == "pearson") return "Pearson's r";
  if (measure == "point_biserial") return "point-biserial r";
  if (measure == "correlation_ratio") return "correlation ratio";
  return "Cramér's V";
}

std::map<std::string, Association> associations_with(const ColumnProfile& label,
                                                     bool is_number,
                                                     const TableProfile& table,
                                                     RecordSource& source) {
  std::map<std::string, Association> all;
  if (is_number ? !is_measured(label)
                : !is_measured(label) && !is_classed(label))
    return all;
  std::set<std::string, std::less<>> missing(table.missing_words.begin(),
                                             table.missing_words.end());
  missing.insert("");
  ColumnReading reading(label, is_number);
  struct Paired {
    ColumnReading column;
    std::unique_ptr<Pairing> pairing;
    std::unique_ptr<Pairing> of_missing;  // or null
  };
  std::vector<Paired> pairs;
  for (const ColumnProfile& column : table.columns) {
    const bool is_measure =
        is_measured(column) || column.type() == ColumnType::kDate;
    if (&column == &label || (!is_measure && !is_classed(column))) continue;
    ColumnReading read(column, is_measure);
    auto pairing = pairing_of(read, reading);
    auto of_missing =
        is_measure && !is_number && column.missing() > 0
            ? std::make_unique<ClassPairing>(2, reading.classes().size())
            : nullptr;
    pairs.push_back(
        {std::move(read), std::move(pairing), std::move(of_missing)});
  }
  for (Record record; source.next(record);) {
    if (!record.problem.empty()) continue;
    const RowValue of_label = reading.of(record, missing);
    for (Paired& pair : pairs) {
      RowValue value = pair.column.of(record, missing);
      pair.pairing->add(value, of_label);
      value.of_classes = value.is_missing ? 1 : 0;
      if (pair.of_missing) pair.of_missing->add(value, of_label);
    }
  }
  for (const Paired& pair : pairs) {
    const auto result = pair.pairing->result();
    const auto of_missing = pair.of_missing ? pair.of_missing->result()
                                            : std::optional<Association>();
    if (result)
      all.emplace(pair.column.name(), *result).first->second.of_missing =
          of_missing ? of_missing->value : 0;
    else if (of_missing)  // all numbers are of one class
      all.emplace(pair.column.name(), *of_missing);
  }
  return all;
}

}  // namespace dl::vectorize
