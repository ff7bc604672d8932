// The files of a tar archive: V7 and ustar, with the long names and sizes of
// pax and of GNU.

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kNoSize = -1;
constexpr std::size_t kMaxExtra = 1 << 20;  // of a long name, of pax records

// A field of a header block.
struct TarField {
  std::size_t at, size;
};
constexpr TarField kNameField{0, 100}, kSize{124, 12}, kSumField{148, 8},
    kType{156, 1}, kMagic{257, 6}, kPrefix{345, 155};

using TarHeader = std::array<char, kTarBlock>;

std::string_view field_of(const TarHeader& header, const TarField& field) {
  const std::string_view text(header.data() + field.at, field.size);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

// Octal digits, or base 256 with the first bit set; -1: neither.
std::int64_t number_of(const TarHeader& header, const TarField& field) {
  const auto* bytes =
      reinterpret_cast<const unsigned char*>(header.data() + field.at);
  if ((bytes[0] & 0x80U) != 0) {
    std::uint64_t value = bytes[0] & 0x7FU;
    for (std::size_t i = 1; i < field.size; ++i) {
      if (value >> 55 != 0) return -1;
      value = value << 8 | bytes[i];
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view text = field_of(header, field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, std::min(text.find(' '), text.size()));
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

bool sum_fits(const TarHeader& header) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    sum += i >= kSumField.at && i < kSumField.at + kSumField.size
               ? ' '
               : static_cast<unsigned char>(header[i]);
  return number_of(header, kSumField) == sum;
}

// Names are labels and ids here and open nothing, but one that leads out shows
// that the archive was made to do harm, or by mistake.
bool leads_out(std::string_view path) {
  return path.starts_with('/') || path.starts_with("../") ||
         path.find("/../") != std::string_view::npos || path == ".." ||
         path.ends_with("/..");
}

class TarSource : public RecordSource {
 public:
  TarSource(std::unique_ptr<io::Source> source, Suffixes wanted)
      : source_(std::move(source)), wanted_(wanted) {}

  bool next(Record& record) override {
    while (read_header()) {
      const char type = header_[kType.at];
      described_ = type == 'L' || type == 'K' || type == 'x';
      switch (type) {
        case 'L':
          long_name_ = text(extra());
          break;
        case 'K':
        case 'g':
          (void)extra();
          break;
        case 'x':
          take_pax(extra());
          break;
        case '0':
        case '\0':
        case '7':
          if (take_file(record)) return true;
          break;
        default:
          if (take_other(type, record)) return true;
      }
    }
    source_->close();
    return false;
  }

  PassedOver passed_over() const override { return passed_over_; }

 private:
  [[noreturn]] void fail(const std::string& what) {
    throw Error{Code::kData, source_->name() + ": " + what};
  }

  void read(std::span<char> to) {
    if (io::read_full(*source_, std::as_writable_bytes(to)) == to.size())
      return;
    source_->close();  // a command that failed is the reason
    fail("ends inside " + (path_.empty() ? "a header" : in_quotes(path_)) +
         "; the archive was cut short");
  }

  // The next block; false at the end of the input.
  bool read_block() {
    const std::size_t n =
        io::read_full(*source_, std::as_writable_bytes(std::span(header_)));
    if (n == 0 || n == header_.size()) return n > 0;
    source_->close();  // a command that failed is the reason
    fail("ends inside a header; the archive was cut short");
  }

  // False at the end, which blocks of zeros mark.  Archives that were joined
  // have more behind them.
  bool read_header() {
    path_.clear();
    bool ended = false;
    do {
      if (read_block()) continue;
      if (ended && !described_) return false;
      source_->close();
      fail(std::string("ends ") +
           (described_ ? "behind a header that describes the next one"
                       : "without the zeros that mark its end") +
           "; the archive was cut short");
    } while (header_ == TarHeader{} && (ended = true));
    if (ended && described_)
      fail("ends behind a header that describes the next one");
    if (!sum_fits(header_))
      fail(ended ? "has bytes behind its end that are no archive's"
                 : "has a header whose checksum is wrong");
    size_ = pax_size_ != kNoSize ? pax_size_ : number_of(header_, kSize);
    pax_size_ = kNoSize;
    if (size_ < 0) fail("has a header with a size that is none");
    return true;
  }

  void skip(std::int64_t bytes) {
    std::array<char, 16384> rest{};
    while (bytes > 0) {
      const auto n = std::min<std::int64_t>(bytes, rest.size());
      read(std::span(rest).first(static_cast<std::size_t>(n)));
      bytes -= n;
    }
  }
  void skip_padding() {
    constexpr std::int64_t block = kTarBlock;
    skip((block - size_ % block) % block);
  }

  // The contents of a header that says something of the next one.
  std::string extra() {
    if (size_ > static_cast<std::int64_t>(kMaxExtra))
      fail("has a header of " + std::to_string(size_) + " bytes");
    std::string text(static_cast<std::size_t>(size_), '\0');
    read(text);
    skip_padding();
    return text;
  }
  static std::string text(std::string text) {
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

  // Records "LENGTH KEY=VALUE\n".
  void take_pax(const std::string& records) {
    for (std::size_t at = 0; at < records.size();) {
      std::size_t length = 0;
      const char* from = records.data() + at;
      const auto [end, error] =
          std::from_chars(from, records.data() + records.size(), length);
      if (error != std::errc() || *end != ' ' || length < 5 ||
          length > records.size() - at || from[length - 1] != '\n')
        fail("has a pax header that is damaged");
      const std::string_view pair(end + 1, from + length - 1);
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos)
        fail("has a pax header that is damaged");
      take_pax(pair.substr(0, equals), pair.substr(equals + 1));
      at += length;
    }
  }
  void take_pax(std::string_view key, std::string_view value) {
    if (key == "path") long_name_ = std::string(value);
    if (key.starts_with("GNU.sparse.")) sparse_ = true;
    if (key == "GNU.sparse.name") sparse_name_ = std::string(value);
    if (key != "size") return;
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), pax_size_);
    if (error != std::errc() || pax_size_ < 0)
      fail("has a pax header with a size that is none");
  }

  std::string take_path() {
    std::string path = std::exchange(long_name_, "");
    // The header of a sparse file has the name of a stand-in.
    std::string sparse = std::exchange(sparse_name_, "");
    if (!sparse.empty()) return sparse;
    if (!path.empty()) return path;
    path = field_of(header_, kNameField);
    const std::string_view prefix = field_of(header_, kPrefix);
    const bool posix =
        std::memcmp(header_.data() + kMagic.at, "ustar\0", 6) == 0;
    return posix && !prefix.empty() ? std::string(prefix) + "/" + path : path;
  }

  void start(Record& record, const std::string& path) {
    record = record_of_file(path);
    record.name = source_->name() + ", " + in_quotes(path);
  }

  bool take_file(Record& record) {
    path_ = take_path();
    while (path_.starts_with("./")) path_.erase(0, 2);
    const bool sparse = std::exchange(sparse_, false);
    if (path_.ends_with('/') || path_.empty() || is_hidden(path_)) {
      skip(size_);
      skip_padding();
      return false;
    }
    std::string problem;
    if (leads_out(path_)) problem = "its name leads out of the archive";
    if (sparse) problem = "it is a sparse file, which is not read";
    if (size_ > static_cast<std::int64_t>(kMaxRecordFile))
      problem = "it has " + std::to_string(size_) + " bytes, want " +
                std::to_string(kMaxRecordFile) + " at most";
    const bool wanted = has_suffix(path_, wanted_);
    if (!wanted) ++passed_over_[suffix_of(path_)];
    start(record, path_);
    if (problem.empty()) problem = record.problem;
    if (!wanted || !problem.empty()) {
      skip(size_);
      skip_padding();
      record.problem = problem;
      return wanted;
    }
    std::string bytes;
    read_contents(bytes);
    (void)record.columns.emplace("bytes", std::move(bytes));
    skip_padding();
    return true;
  }

  // A header may claim more than there is: memory grows with what comes.
  void read_contents(std::string& bytes) {
    constexpr std::size_t kStep = 1 << 20;
    const auto size = static_cast<std::size_t>(size_);
    while (bytes.size() < size) {
      const std::size_t had = bytes.size();
      bytes.resize(had + std::min(size - had, std::max(kStep, had)));
      read(std::span(bytes).subspan(had));
    }
  }

  static bool is_hidden(std::string_view path) {
    return path.substr(path.rfind('/') + 1).starts_with('.');
  }

  // Links and what is no file.  Folders need nothing.
  bool take_other(char type, Record& record) {
    path_ = take_path();
    const std::int64_t size = size_;
    skip(size);
    skip_padding();
    if (type == '5' || !has_suffix(path_, wanted_) || is_hidden(path_))
      return false;
    start(record, path_);
    record.problem = type == '1' || type == '2'
                         ? "it is a link, which is not followed in an archive"
                     : type == 'S' ? "it is a sparse file, which is not read"
                                   : "it is no regular file";
    return true;
  }

  std::unique_ptr<io::Source> source_;
  Suffixes wanted_;
  TarHeader header_{};
  std::int64_t size_ = 0, pax_size_ = kNoSize;
  std::string long_name_, sparse_name_, path_;
  bool sparse_ = false;
  bool described_ = false;  // the next header, by the one before it
  PassedOver passed_over_;
};

}  // namespace

bool is_tar(std::span<const std::byte> start) {
  if (start.size() < kTarBlock) return false;
  TarHeader header;
  std::memcpy(header.data(), start.data(), header.size());
  // An archive without files is its end alone, which is zeros.
  return header == TarHeader{} || sum_fits(header);
}

bool is_damaged_tar(std::span<const std::byte> start) {
  if (start.size() < kTarBlock || is_tar(start)) return false;
  constexpr std::string_view kMark = "ustar";
  return std::memcmp(start.data() + kMagic.at, kMark.data(), kMark.size()) == 0;
}

std::unique_ptr<RecordSource> open_tar(std::unique_ptr<io::Source> source,
                                       Suffixes wanted) {
  return std::make_unique<TarSource>(std::move(source), wanted);
}

}  // namespace dl::vectorize
