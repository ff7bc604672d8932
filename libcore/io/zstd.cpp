// Compression and decompression of single frames.

#include "libcore/io/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "libcore/base/error.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/memory.h"

namespace dl::io {
namespace {

constexpr int kWindowLogMax = 27;  // zstd's own default: 128 MiB
// No block unpacks to more than 128 KiB, and none takes less than 3 bytes.
constexpr std::uint64_t kMaxBlock = 1 << 17, kMinStoredBlock = 3;
// Memory taken at once on the word of a header alone.
constexpr std::uint64_t kTrusted = 1 << 24;

std::size_t checked(std::size_t rc) {
  if (!ZSTD_isError(rc)) return rc;
  const std::string text = ZSTD_getErrorName(rc);
  bad_data(text.find("checksum") != std::string::npos
               ? "checksum differs"
               : "damaged zstd frame: " + text);
}

void check_size(std::uint64_t content, std::uint64_t limit) {
  if (content > limit)
    bad_data("the frame unpacks to " + std::to_string(content) +
             " bytes, more than the limit of " + std::to_string(limit));
}

bool is_skippable(std::uint32_t magic) {
  return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

std::uint32_t load32(const std::byte* p) {
  std::uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using Decoder = std::unique_ptr<ZSTD_DCtx, FreeContext>;

Decoder make_decoder() {
  Decoder decoder(ZSTD_createDCtx());
  if (!decoder) throw std::bad_alloc{};
  checked(ZSTD_DCtx_setParameter(decoder.get(), ZSTD_d_windowLogMax,
                                 kWindowLogMax));
  return decoder;
}

// Level 3 takes up to twice the time for a few percent: small frames have it.
constexpr int kLevel = 1, kSmallLevel = 3;
// Noise, and pixels of decoded photographs, hardly become smaller: these pass
// eight times as fast at a level that looks for little but repetitions.
constexpr int kFastLevel = -1;
// A sample of a frame: so many pieces of so many bytes.
constexpr std::size_t kPieces = 8, kPiece = 512;

std::size_t written(std::size_t rc) {
  if (!ZSTD_isError(rc)) return rc;
  if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
    throw std::bad_alloc{};
  throw Error{Code::kBug,
              std::string("internal error: zstd: ") + ZSTD_getErrorName(rc)};
}

}  // namespace

struct FrameCompressor::State {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<std::byte> out;  // memory of one frame after the other
  State() {
    if (!context) throw std::bad_alloc{};
  }
  ~State() { ZSTD_freeCCtx(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::size_t compress(std::span<const std::byte> content,
                       std::span<std::byte> to, int level) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    return written(ZSTD_compress2(context, to.data(), to.size(), content.data(),
                                  content.size()));
  }
  int level_for(std::span<const std::byte> content, std::span<std::byte> room);
};

// The fast one unless the other makes a sample smaller by a sixteenth.
int FrameCompressor::State::level_for(std::span<const std::byte> content,
                                      std::span<std::byte> room) {
  const std::size_t step = content.size() / kPieces;
  constexpr std::size_t kShare = 8;  // of a frame, at most
  if (step < kShare * kPiece) return kSmallLevel;
  std::array<std::byte, kPieces * kPiece> sample;
  for (std::size_t i = 0; i < kPieces; ++i)
    std::ranges::copy(content.subspan(i * step + step / 2, kPiece),
                      sample.begin() + i * kPiece);
  const std::size_t fast = compress(sample, room, kFastLevel);
  return compress(sample, room, kLevel) < fast - fast / 16 ? kLevel
                                                           : kFastLevel;
}

FrameCompressor::FrameCompressor() : state_(std::make_unique<State>()) {
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_contentSizeFlag, 1);
}
FrameCompressor::~FrameCompressor() = default;

std::vector<std::byte> FrameCompressor::compress(
    std::span<const std::byte> content) {
  std::vector<std::byte>& out = state_->out;
  if (const std::size_t most = ZSTD_compressBound(content.size());
      out.size() < most)
    out.resize(most);
  const std::size_t size =
      state_->compress(content, out, state_->level_for(content, out));
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size)};
}

struct FrameReader::State {
  std::unique_ptr<Source> source;
  std::uint64_t limit;
  Decoder decoder = make_decoder();
  std::vector<std::byte> buffer = std::vector<std::byte>(1 << 17);
  std::size_t begin = 0, end = 0;  // of what is read but not used
  std::uint64_t offset = 0;        // of buffer[begin] in the source

  std::size_t ready() const { return end - begin; }
  const std::byte* data() const { return buffer.data() + begin; }
  void skip(std::size_t n, bool count) {
    if (count && digest) digest->add({data(), n});
    begin += n;
    offset += n;
  }
  Digest* digest = nullptr;
  bool cut_short = false;

  // Tries to have n bytes ready (n is small); returns how many there are.
  std::size_t want(std::size_t n) {
    if (ready() >= n) return ready();
    std::memmove(buffer.data(), data(), ready());
    end = ready();
    begin = 0;
    while (end < n) {
      const std::size_t got = source->read(std::span(buffer).subspan(end));
      if (got == 0) break;
      end += got;
    }
    return end;
  }

  [[noreturn]] void cut() {
    cut_short = true;
    bad_data("the frame is cut short");
  }
  void read_skippable(Frame& frame);
  void read_compressed(Frame& frame);
  void decode(std::vector<std::byte>& content, std::uint64_t max_content);
};

void FrameReader::State::read_skippable(Frame& frame) {
  if (want(8) < 8) cut();
  const std::uint64_t size = load32(data() + 4);
  check_size(size, limit);
  skip(8, false);
  frame.content.clear();
  while (frame.content.size() < size) {
    const std::size_t n = static_cast<std::size_t>(
        std::min<std::uint64_t>(want(1), size - frame.content.size()));
    if (n == 0) cut();
    frame.content.insert(frame.content.end(), data(), data() + n);
    skip(n, false);
  }
}

void FrameReader::State::read_compressed(Frame& frame) {
  want(18);  // the longest frame header
  const unsigned long long declared = ZSTD_getFrameContentSize(data(), ready());
  if (declared == ZSTD_CONTENTSIZE_ERROR)
    ready() < 18 ? cut() : bad_data("damaged zstd frame: bad header");
  const bool known = declared != ZSTD_CONTENTSIZE_UNKNOWN;
  if (known) check_size(declared, limit);
  frame.content.resize(static_cast<std::size_t>(
      known ? std::min<std::uint64_t>(declared, kTrusted) : kMaxBlock));
  decode(frame.content, known ? declared : limit);
}

// Content grows as data arrive, up to max_content.
void FrameReader::State::decode(std::vector<std::byte>& content,
                                std::uint64_t max_content) {
  ZSTD_DCtx_reset(decoder.get(), ZSTD_reset_session_only);
  ZSTD_outBuffer out{content.data(), content.size(), 0};
  while (true) {
    const std::size_t available = want(1);
    ZSTD_inBuffer in{data(), available, 0};
    const std::size_t rc =
        checked(ZSTD_decompressStream(decoder.get(), &out, &in));
    skip(in.pos, true);
    if (rc == 0) break;
    if (out.pos == out.size && out.size < max_content) {
      content.resize(static_cast<std::size_t>(std::min<std::uint64_t>(
          max_content, std::max<std::uint64_t>(2 * out.size, kMaxBlock))));
      out.dst = content.data();
      out.size = content.size();
    } else if (in.pos == 0 && available > 0) {
      check_size(max_content + 1, max_content);
    } else if (available == 0) {
      cut();
    }
  }
  content.resize(out.pos);
}

FrameReader::FrameReader(std::unique_ptr<Source> source,
                         std::uint64_t max_content)
    : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
  state_->limit = max_content;
}
FrameReader::~FrameReader() = default;

Source& FrameReader::source() { return *state_->source; }

bool FrameReader::ready() const {
  return state_->ready() > 0 || state_->source->ready();
}
bool FrameReader::cut_short() const { return state_->cut_short; }
void FrameReader::digest_into(Digest* digest) { state_->digest = digest; }

bool FrameReader::next(Frame& frame) {
  State& s = *state_;
  if (s.want(4) == 0) return false;
  frame.offset = s.offset;
  frame.magic = s.ready() >= 4 ? load32(s.data()) : 0;
  frame.skippable = is_skippable(frame.magic);
  if (frame.skippable) {
    s.read_skippable(frame);
  } else if (frame.magic == ZSTD_MAGICNUMBER) {
    frame.magic = 0;
    s.read_compressed(frame);
  } else {
    s.want(32);
    bad_data("no zstd frame but " + no_stream_but({s.data(), s.ready()}));
  }
  frame.stored_bytes = s.offset - frame.offset;
  return true;
}

std::vector<std::byte> decompress_frame(std::span<const std::byte> frame,
                                        std::uint64_t max_content) {
  const unsigned long long declared =
      ZSTD_getFrameContentSize(frame.data(), frame.size());
  const std::size_t stored =
      ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (declared == ZSTD_CONTENTSIZE_UNKNOWN) {
    FrameReader reader(memory_source(frame), max_content);
    Frame result;
    if (!reader.next(result) || result.stored_bytes != frame.size())
      bad_data("not exactly one zstd frame");
    return std::move(result.content);
  }
  if (declared == ZSTD_CONTENTSIZE_ERROR || ZSTD_isError(stored))
    bad_data("damaged or cut zstd frame");
  if (stored != frame.size()) bad_data("not exactly one zstd frame");
  check_size(declared, max_content);
  check_size(declared, (stored / kMinStoredBlock + 1) * kMaxBlock);
  std::vector<std::byte> content(static_cast<std::size_t>(declared));
  const Decoder decoder = make_decoder();
  const std::size_t n =
      checked(ZSTD_decompressDCtx(decoder.get(), content.data(), content.size(),
                                  frame.data(), frame.size()));
  if (n != content.size()) bad_data("the frame is shorter than it says");
  return content;
}

}  // namespace dl::io
