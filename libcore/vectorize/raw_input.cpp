#include "libcore/vectorize/raw_input.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/io/decompress.h"

namespace dl::vectorize {

RawInput::RawInput(const std::string& spec)
    : source_(io::decompress(io::open_source(spec))), buffer_(1 << 18) {}

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
  if (done < bytes.size())
    throw Error{Code::kData,
                name() + ": ends inside " + what + "; it was cut short"};
  return true;
}

bool RawInput::line(std::string& text) {
  text.clear();
  if (peek() < 0) return false;
  while (at_ < size_ || refill()) {
    const auto* from = reinterpret_cast<const char*>(buffer_.data());
    const void* end = std::memchr(from + at_, '\n', size_ - at_);
    std::size_t stop =
        end == nullptr
            ? size_
            : static_cast<std::size_t>(static_cast<const char*>(end) - from);
    text.append(from + at_, stop - at_);
    at_ = std::min(size_, stop + 1);
    if (end != nullptr) break;
    if (text.size() > kMaxLine)
      throw Error{Code::kData, name() + ": has a line of more than 64 MiB"};
  }
  if (text.ends_with('\r')) text.pop_back();
  return true;
}

}  // namespace dl::vectorize
