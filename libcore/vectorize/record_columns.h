// The columns of a record: their names, which records of a table share, and
// their texts, which may be views into a block of the input.

#ifndef DL_LIBCORE_VECTORIZE_RECORD_COLUMNS_H_
#define DL_LIBCORE_VECTORIZE_RECORD_COLUMNS_H_

#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dl::vectorize {

// Names of columns in their order.
class ColumnNames {
 public:
  ColumnNames() = default;
  // find() gives the first of columns that share a name or have none.
  explicit ColumnNames(const std::vector<std::string>& names);

  // False: there is one of that name.
  bool add(std::string name);
  std::size_t size() const { return all_.size(); }
  const std::string& operator[](std::size_t i) const { return all_[i]; }
  const std::vector<std::string>& all() const { return all_; }
  std::optional<std::size_t> find(std::string_view name) const;
  // A number that no other names of this process have.
  std::uint64_t number() const { return number_; }

 private:
  static std::uint64_t next_number();
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::vector<std::string> all_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
  std::uint64_t number_ = next_number();
};

// A copy of a pointer with a count of its own, so that threads that copy it on
// do not wait for each other.
template <typename T>
std::shared_ptr<T> own_copy(const std::shared_ptr<T>& shared) {
  return {std::make_shared<std::shared_ptr<T>>(shared), shared.get()};
}

// Memory of short texts, which stay where they are until clear().
class TextArena {
 public:
  std::string_view keep(std::string_view text);
  // Forgets all texts; memory stays for the next ones.
  void clear();
  bool empty() const { return chunks_.size() < 2 && used_ == 0; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;  // bytes of the last chunk
};

class RecordColumns {
 public:
  using Names = std::shared_ptr<const ColumnNames>;
  RecordColumns() = default;
  // Room for columns that will most likely be called so, in this order.
  explicit RecordColumns(Names expected) : names_(std::move(expected)) {
    if (names_) values_.reserve(names_->size());
  }
  // owner: holds the texts, one for each name.
  RecordColumns(Names names, std::vector<std::string_view> values,
                std::shared_ptr<const void> owner)
      : names_(std::move(names)),
        values_(std::move(values)),
        owner_(std::move(owner)) {}

  std::size_t size() const { return values_.size(); }
  const std::string& name(std::size_t i) const { return (*names_)[i]; }
  std::string_view value(std::size_t i) const {
    return is_unwritten(values_[i]) ? written(i) : values_[i];
  }
  // The number that a column holds, where that is known; else null.
  const double* number(std::size_t i) const {
    return i < numbers_.size() && !std::isnan(numbers_[i]) ? &numbers_[i]
                                                           : nullptr;
  }
  const Names& names() const { return names_; }

  std::optional<std::size_t> place(std::string_view name) const;
  bool contains(std::string_view name) const { return place(name).has_value(); }
  // hint: where it may be; becomes where it is.
  std::optional<std::string_view> find(std::string_view name,
                                       std::size_t& hint) const {
    if (hint >= size() || (*names_)[hint] != name) {
      const auto found = place(name);
      if (!found) return std::nullopt;
      hint = *found;
    }
    return value(hint);
  }

  // Adds a column; false: there is one of that name.
  bool emplace(std::string_view name, std::string value);
  // Replaces the text of a column.
  void set(std::size_t i, std::string value) {
    values_[i] = own(std::move(value));
  }
  // A copy of the text that lives as long as the columns do.
  std::string_view keep(std::string_view text);
  // Other columns, whose texts these ones hold; gives the values of before.
  // numbers: those that are known, else NaN, or none at all.
  void rearrange(const Names& names, std::vector<std::string_view>& values,
                 std::vector<double>& numbers) {
    if (names_ != names) names_ = names;
    values_.swap(values);
    numbers_.swap(numbers);
  }
  // A text in place of a number that is known, to be written when it is asked
  // for.
  static std::string_view unwritten() {
    std::string_view text(&kUnwritten, 1);
    text.remove_suffix(1);
    return text;
  }
  static bool is_unwritten(std::string_view text) {
    return text.data() == &kUnwritten;
  }
  // Columns of the next record, in the memory of this one: the values, to be
  // filled, of which `owner` holds the texts.
  std::vector<std::string_view>& refill(
      const Names& names, const std::shared_ptr<const void>& owner);
  // Holds all texts itself from now on.
  void detach();
  // Whether some of its texts live no longer than its present values.
  bool holds_texts() const { return own_ || (short_ && !short_->empty()); }
  std::size_t bytes() const;  // of the texts

 private:
  static constexpr char kUnwritten = 0;
  std::string_view own(std::string value);
  std::string_view written(std::size_t i) const;

  Names names_;  // may have more of them than there are values
  mutable std::vector<std::string_view> values_;
  std::vector<double> numbers_;
  std::shared_ptr<const void> owner_;
  // Texts that no owner holds.
  std::shared_ptr<std::deque<std::string>> own_;
  mutable std::shared_ptr<TextArena> short_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECORD_COLUMNS_H_
