// Decoding of text by iconv(3).

#include "libcore/vectorize/source/encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

std::string upper_letters(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (c >= 'a' && c <= 'z')
      letters += static_cast<char>(c - 'a' + 'A');
    else if (c != '-' && c != '_')
      letters += c;
  return letters;
}

class Iconv {
 public:
  explicit Iconv(const std::string& from)
      : handle_(::iconv_open("UTF-8", from.c_str())) {}
  ~Iconv() {
    if (is_open()) ::iconv_close(handle_);
  }
  Iconv(const Iconv&) = delete;
  Iconv& operator=(const Iconv&) = delete;

  // iconv_open() tells of an error by the handle -1.
  bool is_open() const {
    return handle_ != reinterpret_cast<iconv_t>(-1);  // NOLINT
  }
  iconv_t handle() const { return handle_; }

 private:
  iconv_t handle_;
};

class Recoded : public io::Source {
 public:
  Recoded(std::unique_ptr<io::Source> source, std::vector<std::byte> start,
          std::string encoding)
      : Source(source->name()),
        source_(std::move(source)),
        encoding_(std::move(encoding)),
        iconv_(encoding_),
        input_(std::move(start)) {
    require(iconv_.is_open(), "an encoding that was not checked");
  }

  // The output of iconv is made in a buffer, as a small one has no room for a
  // character.
  std::size_t read(std::span<std::byte> buf) override {
    if (buf.empty()) return 0;
    while (at_ == made_) {
      if (left() > 0 && recode()) continue;
      if (!refill()) return end();
    }
    const std::size_t n = std::min(buf.size(), made_ - at_);
    std::memcpy(buf.data(), output_.data() + at_, n);
    at_ += n;
    return n;
  }

  void close() override { source_->close(); }
  bool ready() override { return at_ < made_ || source_->ready(); }
  void stop_at(int stop) override { source_->stop_at(stop); }

 private:
  std::size_t left() const { return input_.size() - taken_; }

  // False: it wants more bytes first.
  bool recode() {
    auto* from = reinterpret_cast<char*>(input_.data() + taken_);
    std::size_t from_left = left();
    char* to = output_.data();
    std::size_t to_left = output_.size();
    const std::size_t result =
        ::iconv(iconv_.handle(), &from, &from_left, &to, &to_left);
    const int error = result == static_cast<std::size_t>(-1) ? errno : 0;
    taken_ = input_.size() - from_left;
    at_ = 0;
    made_ = output_.size() - to_left;
    lines_ += std::count(output_.data(), to, '\n');
    // All before a character that is none is given out first.
    if (made_ > 0) return true;
    if (error == EILSEQ) fail();
    return false;
  }

  bool refill() {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    input_.erase(input_.begin(),
                 input_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    const std::size_t before = input_.size();
    input_.resize(before + kMost);
    const std::size_t n = source_->read(std::span(input_).subspan(before));
    input_.resize(before + n);
    return n > 0;
  }

  std::size_t end() const {
    if (left() > 0)
      throw Error{Code::kData, name() + " ends within a character of " +
                                   displayed(encoding_)};
    return 0;
  }

  [[noreturn]] void fail() const {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(input_[taken_]);
    throw Error{Code::kData,
                name() + ", line " + std::to_string(lines_ + 1) + ": byte 0x" +
                    kDigits[byte / 16] + kDigits[byte % 16] +
                    " begins no character of " + displayed(encoding_)};
  }

  std::unique_ptr<io::Source> source_;
  std::string encoding_;
  Iconv iconv_;
  std::vector<std::byte> input_;
  std::size_t taken_ = 0;  // bytes of the input
  std::array<char, std::size_t{1} << 16> output_{};
  std::size_t at_ = 0, made_ = 0;  // of the output
  std::int64_t lines_ = 0;
};

}  // namespace

bool is_encoding(const std::string& name) {
  // A name with a slash gives iconv options.
  return !name.empty() && name.find('/') == std::string::npos &&
         name.find(',') == std::string::npos && Iconv(name).is_open();
}

void check_encoding(const std::string& name) {
  if (!is_encoding(name))
    bad_usage(
        "--encoding: want one that iconv -l lists, as latin1, "
        "windows-1252 or utf-16le, got " +
        in_quotes(name));
}

bool is_encoding_of(const std::string& name, const std::string& family) {
  return upper_letters(name).starts_with(upper_letters(family));
}

std::unique_ptr<io::Source> as_utf8(std::unique_ptr<io::Source> source,
                                    std::vector<std::byte> start,
                                    const std::string& encoding) {
  return std::make_unique<Recoded>(std::move(source), std::move(start),
                                   encoding);
}

}  // namespace dl::vectorize
