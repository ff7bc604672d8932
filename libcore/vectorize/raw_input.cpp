#include "libcore/vectorize/raw_input.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/error.h"
#include "libcore/io/decompress.h"

namespace dl::vectorize {

RawInput::RawInput(const std::string& spec, Kind kind) : buffer_(1 << 18) {
  source_ = io::open_source(spec);
  if (kind == Kind::kBytes) return;
  source_ = io::decompress(std::move(source_));
  read_start();
  refuse_other_formats();
  if (kind != Kind::kText) return;
  refuse_utf16(ahead(), name(), Code::kData);
  at_ = size_ - without_byte_order_mark(ahead()).size();
}

void RawInput::read_start() {
  constexpr std::size_t kEnough = 16;
  while (size_ < kEnough) {
    const std::size_t n = source_->read(std::span(buffer_).subspan(size_));
    if (n == 0) break;
    size_ += n;
  }
}

// What no reader takes, with what helps.  No IDX or CIFAR file begins so.
void RawInput::refuse_other_formats() {
  struct Other {
    std::string_view magic;
    const char* what;
    const char* unpack;  // a command, or null
    const char* help = nullptr;
  };
  constexpr const char* kAsIdx =
      "write images as IDX or CIFAR files first, dl-preprocess(1)";
  static constexpr Other kOthers[] = {
      {"\xfd"
       "7zXZ",
       "xz data", "xz -dc"},
      {"BZh", "bzip2 data", "bzip2 -dc"},
      {"PK\x03\x04", "a zip archive", "unzip -p"},
      {"\xff\xfe", "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
      {"\xfe\xff", "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
      {"PAR1", "a Parquet file", nullptr, "write it as CSV first"},
      {"\x93NUMPY", "a NumPy array", nullptr, "write it as CSV first"},
      {"\x89HDF", "an HDF5 file", nullptr, "write what it has as CSV first"},
      {"\x89PNG", "a PNG image", nullptr, kAsIdx},
      {"\xff\xd8\xff", "a JPEG image", nullptr, kAsIdx},
  };
  const std::string_view start = ahead();
  for (const Other& other : kOthers) {
    if (!start.starts_with(other.magic)) continue;
    std::string text = name() + " is " + other.what;
    if (other.unpack != nullptr) {
      const bool file =
          name().starts_with('\'') && !name().starts_with("'pipe:");
      const std::string path =
          file ? name().substr(1, name().size() - 2) : "FILE";
      // Packed once more, which is undone here, but not by the command.
      const char* outer = path.ends_with(".gz")    ? "zcat "
                          : path.ends_with(".zst") ? "zstdcat "
                                                   : nullptr;
      text += ": read 'pipe:" +
              (outer == nullptr ? other.unpack + (" " + path)
                                : outer + path + " | " + other.unpack) +
              "'";
    }
    if (other.help != nullptr) text += std::string(": ") + other.help;
    throw Error{Code::kData, text};
  }
  if (start.size() > 9 && start[7] == '\0' && start[8] == '{')
    throw Error{
        Code::kData,
        name() + (start.find("dl-dataset") != std::string_view::npos
                      ? " is a DataSet stream already: dl-shard reads it"
                      : " is a safetensors file, which no format here is")};
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
                name() + ": ends inside " + what + "; it was cut short"};
  }
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
