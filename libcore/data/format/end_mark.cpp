// Encoding and decoding of end marks.

#include "libcore/data/format/end_mark.h"

#include <cstring>
#include <string>

#include "libcore/base/error.h"
#include "libcore/data/format/metadata.h"
#include "libcore/io/digest.h"

namespace dl::data {
namespace {

constexpr char kHead[] = "DLS-MARK", kTail[] = "DLS-END\n";
constexpr std::size_t kWord = 8, kFrameHeader = 8;
constexpr std::size_t kEntry = 2 * kWord;
constexpr std::size_t kTable = kFrameHeader + 5 * kWord;  // where it starts

[[noreturn]] void bad(const std::string& what) {
  throw Error{Code::kData, "end mark: " + what};
}

template <typename T>
void put(std::vector<std::byte>& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put_text(std::vector<std::byte>& out, const char* text) {
  for (std::size_t i = 0; i < kWord; ++i)
    out.push_back(static_cast<std::byte>(text[i]));
}

template <typename T>
T get(std::span<const std::byte> in, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<T>(static_cast<T>(in[at + i]) << (8 * i));
  return value;
}

bool has_text(std::span<const std::byte> in, std::size_t at, const char* text) {
  return std::memcmp(in.data() + at, text, kWord) == 0;
}

// Offsets rise from 0 and stay inside; a part starts with metadata.
void check_table(const EndMark& mark) {
  for (std::size_t i = 0; i < mark.records.size(); ++i) {
    const EndMark::Entry& entry = mark.records[i];
    const bool in_order =
        i == 0 ? entry.offset == 0 : entry.offset > mark.records[i - 1].offset;
    if (!in_order || entry.offset >= mark.bytes)
      bad("the offset of record " + std::to_string(i) + " is impossible");
    if (entry.examples > kMaxRecordBytes)  // none is smaller than a byte
      bad("record " + std::to_string(i) + " has too many examples");
  }
  if (mark.records.empty() || mark.records[0].examples != 0)
    bad("the part does not start with metadata");
}

}  // namespace

std::vector<std::byte> encode_mark(const EndMark& mark, int minor) {
  std::vector<std::byte> out;
  const std::size_t size = kMarkLeast + kEntry * mark.records.size();
  if (size > UINT32_MAX) bad("too many records for one stream");
  put(out, kMarkMagic);
  put(out, static_cast<std::uint32_t>(size - kFrameHeader));
  put_text(out, kHead);
  put(out, static_cast<std::uint16_t>(kMajorVersion));
  put(out, static_cast<std::uint16_t>(minor));
  put(out, std::uint32_t{0});
  put(out, mark.bytes);
  put(out, mark.digest);
  put(out, static_cast<std::uint64_t>(mark.records.size()));
  for (const EndMark::Entry& entry : mark.records) {
    put(out, entry.offset);
    put(out, entry.examples);
  }
  put(out, io::digest(out));
  put(out, static_cast<std::uint64_t>(size));
  put_text(out, kTail);
  return out;
}

EndMark decode_mark(std::span<const std::byte> frame,
                    std::uint64_t& mark_digest) {
  if (frame.size() < kMarkLeast || get<std::uint32_t>(frame, 0) != kMarkMagic ||
      !has_text(frame, kFrameHeader, kHead))
    bad("it is none");
  const auto major = get<std::uint16_t>(frame, kFrameHeader + kWord);
  if (major > kMajorVersion)
    bad("format version " + std::to_string(major) +
        "; this program reads up to version " + std::to_string(kMajorVersion));
  const std::size_t digest_at = frame.size() - kMarkTail - kWord;
  mark_digest = get<std::uint64_t>(frame, digest_at);
  if (mark_digest != io::digest(frame.first(digest_at)) ||
      mark_length(frame.last(kMarkTail)) != frame.size() ||
      get<std::uint32_t>(frame, 4) != frame.size() - kFrameHeader)
    bad("checksum differs");
  EndMark mark;
  mark.bytes = get<std::uint64_t>(frame, kTable - 3 * kWord);
  mark.digest = get<std::uint64_t>(frame, kTable - 2 * kWord);
  const auto count = get<std::uint64_t>(frame, kTable - kWord);
  if (count != (frame.size() - kMarkLeast) / kEntry ||
      (frame.size() - kMarkLeast) % kEntry != 0)
    bad("its length does not fit its number of records");
  mark.records.reserve(static_cast<std::size_t>(count));
  for (std::size_t at = kTable; at < digest_at; at += kEntry)
    mark.records.push_back(
        {get<std::uint64_t>(frame, at), get<std::uint64_t>(frame, at + kWord)});
  check_table(mark);
  return mark;
}

std::uint64_t mark_length(std::span<const std::byte> tail) {
  if (tail.size() != kMarkTail || !has_text(tail, kWord, kTail)) return 0;
  const auto length = get<std::uint64_t>(tail, 0);
  return length < kMarkLeast ? 0 : length;
}

}  // namespace dl::data
