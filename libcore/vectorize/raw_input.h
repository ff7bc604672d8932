// A raw input, unpacked, with what readers of binary formats and of lines need.

#ifndef DL_LIBCORE_VECTORIZE_RAW_INPUT_H_
#define DL_LIBCORE_VECTORIZE_RAW_INPUT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/io/source.h"

namespace dl::vectorize {

class RawInput {
 public:
  // kBytes: any bytes, taken as they are, for a format in which a packed file
  // cannot be told from data.  kText: read behind a byte order mark.  kJson:
  // text as well, which JSON is otherwise refused as.  kTable: text, in UTF-16
  // or UTF-32 where a byte order mark says so.
  enum class Kind { kFile, kBytes, kText, kJson, kTable };
  // given: the encoding of a table, as is_encoding() knows it, or "".
  // mark_wins: a byte order mark says another in place of it.
  // Throws Error: kNoInput, kUsage; but for kBytes, kData, it is packed in a
  // way that is not unpacked here, of a format that is nothing raw, or begins
  // with the byte order mark of another encoding.
  explicit RawInput(const std::string& spec, Kind kind = Kind::kFile,
                    const std::string& given = {}, bool mark_wins = false);

  // The encoding that the byte order mark of a table says, "UTF-16", or "";
  // "UTF-8" in place of the given one alone.
  const std::string& marked_encoding() const { return marked_; }

  // For an input that is to be bare records, `wide` ones if their numbers are
  // of several bytes each.
  // Throws Error: kData, it begins as a file of another format does, or wide
  // ones as text does.
  void refuse_other_format(bool wide) const;

  // Fills bytes; false at the end of the input.
  // Throws Error: kData, the input ends inside them.
  bool read(std::span<std::byte> bytes, const char* what);

  // Appends 1..most bytes; false at the end of the input.
  bool append(std::string& text, std::size_t most);

  // The next byte, or -1 at the end; for text.
  int get() {
    return at_ < size_ || refill()
               ? static_cast<int>(static_cast<unsigned char>(buffer_[at_++]))
               : -1;
  }
  int peek() {
    return at_ < size_ || refill()
               ? static_cast<int>(static_cast<unsigned char>(buffer_[at_]))
               : -1;
  }

  // Bytes that come next, as many as are at hand: at the start of an input 16
  // at least, where it has as many.
  std::string_view ahead() const {
    return {reinterpret_cast<const char*>(buffer_.data()) + at_, size_ - at_};
  }

  // The longest line of text.
  static constexpr std::size_t kMaxLine = std::size_t{64} << 20;

  // For an input that must have something in it.
  // Throws Error: kData, it is empty; kIo, the command that gave it failed.
  [[noreturn]] void refuse_empty();

  // Reports a pipe: command that failed.  To be called at the end.
  void close() { source_->close(); }
  const std::string& name() const { return source_->name(); }

 private:
  bool refill();
  void read_start();
  void decode(const std::string& given, bool mark_wins);
  std::unique_ptr<io::Source> source_;
  std::string other_;  // the sentence about the format that it seems to have
  bool is_certain_ = false;  // that it has that one
  std::string marked_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, size_ = 0;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RAW_INPUT_H_
