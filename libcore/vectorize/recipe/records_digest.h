// A digest of the records of an input, by which it is known again whatever it
// is called, and however it is packed.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/vectorize/record.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

// A record's columns, whatever their order.
class ColumnsDigest {
 public:
  void add_to(io::Digest& digest, const RecordColumns& columns) {
    if (columns.names() != names_ || order_.size() != columns.size()) {
      names_ = columns.names();
      order_.resize(columns.size());
      std::iota(order_.begin(), order_.end(), std::size_t{0});
      std::ranges::sort(order_, {}, [&](std::size_t i) -> const std::string& {
        return columns.name(i);
      });
    }
    for (const std::size_t i : order_) {
      if (columns.name(i) == kPlaceColumn) continue;  // the input's name
      const std::string_view value = columns.value(i);
      std::array<char, 20> digits;
      const auto end =
          std::to_chars(digits.data(), digits.data() + digits.size(),
                        value.size())
              .ptr;
      add_text(columns.name(i));
      add_text({digits.data(), end});
      add_text(value);
    }
    digest.add(std::as_bytes(std::span(bytes_.data(), size_)));
    size_ = 0;
  }

 private:
  void add_text(std::string_view text) {
    if (size_ + text.size() >= bytes_.size())
      bytes_.resize(2 * (size_ + text.size() + 1));
    text.copy(bytes_.data() + size_, text.size());
    bytes_[size_ += text.size()] = '\0';
    ++size_;
  }

  std::vector<char> bytes_;         // of a record, and room for more
  std::size_t size_ = 0;            // of them
  RecordColumns::Names names_;      // of the record before
  std::vector<std::size_t> order_;  // of names
};

class RecordsDigest {
 public:
  void add(const Record& record) {
    any_ = true;
    columns_.add_to(digest_, record.columns);
    // Size and time stand for the contents of a file that is not read.
    struct stat status {};
    if (!record.file.empty() && ::stat(record.file.c_str(), &status) == 0)
      digest_.add_text(std::to_string(status.st_size) + " " +
                       std::to_string(status.st_mtim.tv_sec) + " " +
                       std::to_string(status.st_mtim.tv_nsec));
    digest_.add_text("");  // the record's end
  }
  bool any() const { return any_; }
  std::string value() const { return io::hex(digest_.value()); }

 private:
  io::Digest digest_;
  ColumnsDigest columns_;
  bool any_ = false;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_
