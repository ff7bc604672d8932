// A few words that are looked for in every field of a column.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_WORD_SET_H_
#define DL_LIBCORE_VECTORIZE_TABLE_WORD_SET_H_

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace dl::vectorize {

class WordSet {
 public:
  WordSet() = default;
  explicit WordSet(std::vector<std::string> words) {
    for (std::string& word : words) add(std::move(word));
  }

  void add(std::string word) {
    starts_[start_of(word)] = true;
    words_.push_back(std::move(word));
  }
  bool contains(std::string_view text) const {
    return starts_[start_of(text)] &&
           std::ranges::find(words_, text) != words_.end();
  }
  // Whether a word begins so; 0: whether one is empty.
  bool may_begin(char start) const {
    return starts_[static_cast<unsigned char>(start)];
  }
  auto begin() const { return words_.begin(); }
  auto end() const { return words_.end(); }

 private:
  static std::size_t start_of(std::string_view text) {
    return text.empty() ? 0 : static_cast<unsigned char>(text[0]);
  }
  std::vector<std::string> words_;
  std::array<bool, 256> starts_{};  // first bytes of the words
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_WORD_SET_H_
