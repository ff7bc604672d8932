#include "libcore/vectorize/raw_input.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/decompress.h"
#include "libcore/io/looks_like.h"
#include "libcore/vectorize/other_format.h"
#include "libcore/vectorize/source/encoding.h"

namespace dl::vectorize {

RawInput::RawInput(const std::string& spec, Kind kind, const std::string& given,
                   bool mark_wins)
    : buffer_(1 << 18) {
  source_ = io::open_source(spec);
  if (kind != Kind::kBytes) source_ = io::decompress(std::move(source_));
  read_start();
  if (kind == Kind::kTable) decode(given, mark_wins);
  if (size_ == 0) return;
  const auto start = std::span<const std::byte>(buffer_).first(size_);
  other_ = other_format(name(), start, kind != Kind::kBytes);
  is_certain_ = io::file_kind(start).is_certain;
  if (kind == Kind::kBytes) return;
  if (kind != Kind::kJson && !other_.empty()) throw Error{Code::kData, other_};
  if (kind == Kind::kFile) return;
  if (const std::string wide = wide_encoding(ahead());
      kind == Kind::kTable && !wide.empty())
    bad_data(name() + " seems to be " + wide +
             " without a byte order mark: say --encoding " + wide +
             ", or \"encoding\" in a recipe");
  refuse_wide_text(ahead(), name(), Code::kData);
  at_ = size_ - without_byte_order_mark(ahead()).size();
}

void RawInput::decode(const std::string& given, bool mark_wins) {
  const std::string wide = wide_encoding(ahead());
  const bool has_mark = without_byte_order_mark(ahead()).size() < size_;
  const bool is_wide = wide == "UTF-16" || wide == "UTF-32";
  const std::string mark = has_mark ? "UTF-8" : is_wide ? wide : "";
  const bool is_other =
      !mark.empty() && !given.empty() && !is_encoding_of(given, mark);
  if (is_other && !mark_wins)
    bad_data(name() + " is " + mark +
             ", as its byte order mark says, and not " + displayed(given) +
             ": leave that encoding out for it");
  if (is_wide || is_other) marked_ = mark;
  const std::string encoding = mark.empty() ? given : mark;
  if (encoding.empty() || is_encoding_of(encoding, "UTF-8")) return;
  const auto start = std::span(buffer_).first(size_);
  source_ = as_utf8(std::move(source_), {start.begin(), start.end()}, encoding);
  size_ = 0;
  read_start();
}

void RawInput::read_start() {
  constexpr std::size_t kEnough = 16;
  while (size_ < kEnough) {
    const std::size_t n = source_->read(std::span(buffer_).subspan(size_));
    if (n == 0) break;
    size_ += n;
  }
}

void RawInput::refuse_other_format(bool wide) const {
  constexpr std::size_t kLeast = 16, kMost = 256;
  const std::string_view start = ahead().substr(0, kMost);
  std::string what = is_certain_ ? other_ : "";
  if (wide && what.empty() && start.size() >= kLeast &&
      std::ranges::all_of(start, io::is_printable))
    what = name() + " is " + io::looks_like(std::as_bytes(std::span(start))) +
           ": csv and svmlight read text";
  if (!what.empty())
    throw Error{Code::kData,
                what +
                    "; of bare records that begin so by chance, --examples "
                    "tells how many there are"};
}

void RawInput::refuse_empty() {
  close();
  throw Error{Code::kData, name() + ": is empty"};
}

bool RawInput::refill() {
  size_ = source_->read(buffer_);
  at_ = 0;
  return size_ > 0;
}

bool RawInput::read(std::span<std::byte> bytes, const char* what) {
  std::size_t done = 0;
  while (done < bytes.size() && (at_ < size_ || refill())) {
    std::size_t n = std::min(bytes.size() - done, size_ - at_);
    std::memcpy(bytes.data() + done, buffer_.data() + at_, n);
    at_ += n;
    done += n;
  }
  if (done == 0 && !bytes.empty()) return false;
  if (done < bytes.size()) {
    close();  // a command that failed is the reason
    throw Error{Code::kData,
                name() + ": ends inside " + what + "; " +
                    (other_.empty() ? "it was cut short" : other_)};
  }
  return true;
}

bool RawInput::append(std::string& text, std::size_t most) {
  if (at_ == size_ && !refill()) return false;
  const std::size_t n = std::min(most, size_ - at_);
  text.append(reinterpret_cast<const char*>(buffer_.data()) + at_, n);
  at_ += n;
  return true;
}

}  // namespace dl::vectorize
