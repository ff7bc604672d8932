// A record of raw data: named values that a source cut, and nothing decoded
// yet.

#ifndef DL_LIBCORE_VECTORIZE_RECORD_H_
#define DL_LIBCORE_VECTORIZE_RECORD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/vectorize/record_columns.h"

namespace dl::vectorize {

struct Record {
  std::string name;  // as messages call it: "'photos/cat/01.jpg'"
  // In place of a name, of a table: "'a.csv'", and its line.
  std::shared_ptr<const std::string> input;
  std::int64_t line = 0;
  const char* unit = "line";  // that is counted
  // Text or bytes by name: "bytes", "path", "folder", ...
  RecordColumns columns;
  // The file whose contents are to become the column "bytes"; "": it is there,
  // or there is none.  Whoever works on the record reads it, side by side with
  // others: load().
  std::string file;
  // A column that is not there is an empty text.
  bool is_sparse = false;
  // The reason why there is nothing to be made of it, or "".
  std::string problem;

  // The column of that name, or, of names as "jpg;png", the first that is
  // there. Throws Error: kData, not of a sparse record, "there is no column
  // 'x'; it has 'bytes', 'path'".
  std::string_view at(std::string_view column) const {
    std::size_t hint = 0;
    return at(column, hint);
  }
  std::string_view at(std::string_view column, std::size_t& hint) const {
    const auto found = columns.find(column, hint);
    return found ? *found : other(column, hint);
  }

  // "'a.csv', line 7", or its name.
  std::string place() const;

 private:
  std::string_view other(std::string_view column, std::size_t& hint) const;
};

// A column that a vectorizer takes, which remembers where records had it.
class ColumnOfRecords {
 public:
  explicit ColumnOfRecords(std::string name) : name_(std::move(name)) {}
  ColumnOfRecords(const ColumnOfRecords& other) : name_(other.name_) {}
  ColumnOfRecords& operator=(const ColumnOfRecords&) = delete;

  const std::string& name() const { return name_; }
  std::string_view of(const Record& record) const {
    const auto& names = record.columns.names();
    const std::uint64_t known = known_.load(std::memory_order_relaxed);
    if (names && known >> kPlaceBits == names->number())
      if (const std::size_t place = known & kMostPlace;
          place < record.columns.size())
        return record.columns.value(place);
    return found(record);
  }
  // The number that a step made of it, as far as that is known; else null.
  const double* number_of(const Record& record) const {
    const auto& names = record.columns.names();
    const std::uint64_t known = known_.load(std::memory_order_relaxed);
    return names && known >> kPlaceBits == names->number()
               ? record.columns.number(known & kMostPlace)
               : nullptr;
  }

 private:
  static constexpr int kPlaceBits = 24;
  static constexpr std::uint64_t kMostPlace = (1 << kPlaceBits) - 1;
  std::string_view found(const Record& record) const;

  std::string name_;
  // The number of the names that had the column last, and its place there.
  mutable std::atomic<std::uint64_t> known_ = 0;
};

// The most bytes that a file of a record may have.
constexpr std::size_t kMaxRecordFile = std::size_t{256} << 20;

// Reads `file` into the column "bytes".
// Throws Error: kData, it cannot be read, is too large, or changes meanwhile;
// without its name.
void load(Record& record);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECORD_H_
