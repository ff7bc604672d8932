// Streaming decompression of gzip and zstd.

#include "libcore/io/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "libcore/base/error.h"

namespace dl::io {
namespace {

// Bytes of a source, with a look ahead.
class Lookahead {
 public:
  explicit Lookahead(Source& source) : source_(source), buffer_(1 << 17) {}

  std::span<std::byte> bytes() {
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }
  void skip(std::size_t n) { begin_ += n; }

  // Tries to have at least n bytes ready; returns how many there are.
  std::size_t want(std::size_t n) {
    if (end_ - begin_ < n && begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    while (end_ - begin_ < n && !ended_) {
      const std::size_t got = source_.read(std::span(buffer_).subspan(end_));
      end_ += got;
      ended_ = got == 0;
    }
    return end_ - begin_;
  }

 private:
  Source& source_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

class Codec {
 public:
  virtual ~Codec() = default;
  // Unpacks from `in` to the front of `out`; 0 at the end of the input.
  virtual std::size_t read(Lookahead& in, std::span<std::byte> out,
                           const std::string& name) = 0;
};

class Plain : public Codec {
 public:
  std::size_t read(Lookahead& in, std::span<std::byte> out,
                   const std::string&) override {
    const std::size_t n = std::min(out.size(), in.want(1));
    if (n > 0) std::memcpy(out.data(), in.bytes().data(), n);
    in.skip(n);
    return n;
  }
};

class Gzip : public Codec {
 public:
  Gzip() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc{};
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t read(Lookahead& in, std::span<std::byte> out,
                   const std::string& name) override {
    const auto limit = static_cast<uInt>(
        std::min<std::size_t>(out.size(), std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = limit;
    while (stream_.avail_out == limit) {
      if (between_ && !begin_member(in, name)) return 0;
      in.want(1);
      step(in, name);
    }
    return limit - stream_.avail_out;
  }

 private:
  // False at the end; zeros after the last member are padding.
  bool begin_member(Lookahead& in, const std::string& name) {
    bool padding = false;
    while (in.want(1) > 0 && in.bytes()[0] == std::byte{0}) {
      padding = true;
      in.skip(1);
    }
    if (in.want(1) == 0) return false;
    if (padding || in.bytes()[0] != std::byte{0x1f})
      throw Error{Code::kData,
                  name + " has bytes after its gzip data that are none"};
    inflateReset(&stream_);
    between_ = false;
    return true;
  }

  void step(Lookahead& in, const std::string& name) {
    const std::span<std::byte> bytes = in.bytes();
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    const int rc = inflate(&stream_, Z_NO_FLUSH);
    in.skip(bytes.size() - stream_.avail_in);
    between_ = rc == Z_STREAM_END;
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
      throw Error{Code::kData,
                  name + " is damaged: " +
                      (stream_.msg ? stream_.msg : "bad gzip data")};
    if (rc == Z_BUF_ERROR && bytes.empty())
      throw Error{Code::kData,
                  name + " is cut short: its gzip data has no end"};
  }

  z_stream stream_{};
  bool between_ = false;  // members
};

class Zstd : public Codec {
 public:
  Zstd() : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc{};
  }
  ~Zstd() override { ZSTD_freeDCtx(context_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  std::size_t read(Lookahead& in, std::span<std::byte> out,
                   const std::string& name) override {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos == 0) {
      // Output may be waiting inside even when the input has ended.
      if (in.want(1) == 0 && hint_ == 0) return 0;
      const std::span<std::byte> bytes = in.bytes();
      ZSTD_inBuffer source{bytes.data(), bytes.size(), 0};
      const std::size_t rc = ZSTD_decompressStream(context_, &target, &source);
      if (ZSTD_isError(rc))
        throw Error{Code::kData,
                    name + " is damaged: " + ZSTD_getErrorName(rc)};
      in.skip(source.pos);
      hint_ = rc;
      if (bytes.empty() && target.pos == 0)
        throw Error{Code::kData,
                    name + " is cut short: its zstd data has no end"};
    }
    return target.pos;
  }

 private:
  ZSTD_DCtx* context_;
  std::size_t hint_ = 0;  // 0: between frames
};

std::unique_ptr<Codec> codec_for(std::span<const std::byte> start) {
  std::uint32_t magic = 0;
  if (start.size() >= 4) std::memcpy(&magic, start.data(), 4);
  if ((magic & 0xffff) == 0x8b1f) return std::make_unique<Gzip>();
  if (magic == ZSTD_MAGICNUMBER ||
      (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START)
    return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

class Unpacked : public Source {
 public:
  explicit Unpacked(std::unique_ptr<Source> source)
      : Source(source->name()), source_(std::move(source)), in_(*source_) {}

  std::size_t read(std::span<std::byte> buf) override {
    if (buf.empty()) return 0;
    if (!codec_) {
      in_.want(4);
      codec_ = codec_for(in_.bytes());
    }
    return codec_->read(in_, buf, name());
  }
  void close() override { source_->close(); }

 private:
  std::unique_ptr<Source> source_;
  Lookahead in_;
  std::unique_ptr<Codec> codec_;
};

}  // namespace

std::unique_ptr<Source> decompress(std::unique_ptr<Source> source) {
  return std::make_unique<Unpacked>(std::move(source));
}

}  // namespace dl::io
