#include "libcore/vectorize/analysis/row_texts.h"

#include <algorithm>
#include <utility>

#include "libcore/vectorize/analysis/value_counts.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Rows of so many columns whose texts take little memory.
std::int64_t rows_at_once(std::size_t columns) {
  constexpr std::size_t kMostCells = 1 << 16;
  return static_cast<std::int64_t>(
      std::max<std::size_t>(1, kMostCells / std::max<std::size_t>(columns, 1)));
}

}  // namespace

RowTexts::RowTexts(std::unique_ptr<RecordSource::Rows> rows)
    : source_(std::move(rows)) {
  try {
    for (Record record; source_->next(record);) {
      if (line_ == 0 && record.input) {
        input_ = *record.input;
        line_ = record.line;
      }
      if (record.problem.empty())
        take(record);
      else
        problems_.push_back(record.place() + ": " + record.problem);
    }
  } catch (...) {
    error_ = std::current_exception();
  }
}

void RowTexts::take(const Record& record) {
  const RecordColumns& columns = record.columns;
  if (columns_.empty())
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns_.push_back({columns.name(i), {}});
      salts_.push_back(value_digest(columns.name(i)));
    }
  const bool copies = columns.holds_texts();
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string_view text = trim(columns.value(i));
    if (copies) text = copies_.keep(text);
    const std::uint64_t own = value_digest(text);
    columns_[i].cells.push_back({text, own});
    if (columns_[i].name == kPlaceColumn) continue;
    const std::uint64_t salted = own ^ salts_[i];
    digest += salted * (salted >> 32 | 1);
  }
  digests_.push_back(digest);
}

// Records one after the other, up to one with other columns.
class NextRows::Gathered : public RecordSource::Rows {
 public:
  explicit Gathered(NextRows& all) : all_(all) {}

  bool next(Record& record) override {
    if (given_ > 0 && given_ >= rows_at_once(size_)) return false;
    if (!all_.is_ahead_) all_.is_ahead_ = read_ahead();
    if (!all_.is_ahead_) return false;
    if (given_ > 0 && !has_same_columns()) return false;
    ++given_;
    record = std::exchange(all_.ahead_, {});
    record.columns.detach();
    names_ = record.columns.names();
    size_ = record.columns.size();
    bytes_ += record.columns.bytes();
    all_.is_ahead_ = false;
    return true;
  }
  std::size_t bytes() const override { return bytes_; }

 private:
  bool read_ahead() {
    if (!all_.ended_) all_.ended_ = !all_.source_.next(all_.ahead_);
    return !all_.ended_;
  }
  bool has_same_columns() const {
    return all_.ahead_.columns.names() == names_ &&
           all_.ahead_.columns.size() == size_;
  }

  NextRows& all_;
  RecordColumns::Names names_;  // of the record before
  std::size_t size_ = 0, bytes_ = 0;
  std::int64_t given_ = 0;
};

std::unique_ptr<RecordSource::Rows> NextRows::operator()() {
  if (source_.gives_rows())
    return source_.next_rows(rows_at_once(source_.columns().size()));
  if (ended_) return nullptr;
  return std::make_unique<Gathered>(*this);
}

}  // namespace dl::vectorize
