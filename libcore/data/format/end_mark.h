// The end mark of a DataSet stream: the skippable zstd frame that closes a
// part and makes it a shard.  Layout: dl-dataset(5).

#ifndef DL_LIBCORE_DATA_FORMAT_END_MARK_H_
#define DL_LIBCORE_DATA_FORMAT_END_MARK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::data {

constexpr std::uint32_t kMarkMagic = 0x184D2A5D;
// Bytes at the end of a file that a reader needs first: length of the mark,
// signature.
constexpr std::size_t kMarkTail = 16;
// Bytes of a mark besides its table.
constexpr std::size_t kMarkLeast = 72;

struct EndMark {
  struct Entry {
    std::uint64_t offset = 0;    // of the frame, from the start of the part
    std::uint64_t examples = 0;  // 0: metadata
    bool operator==(const Entry&) const = default;
  };
  std::uint64_t bytes = 0;   // of the part, without the mark
  std::uint64_t digest = 0;  // XXH3 of them
  std::vector<Entry> records;

  bool operator==(const EndMark&) const = default;
};

// The whole frame.  minor: version of the part.
std::vector<std::byte> encode_mark(const EndMark& mark, int minor = 1);

// `frame`: the whole frame.  Gives its own digest, which names the contents of
// the part, in `mark_digest`.
// Throws Error: kData, it is damaged, contradicts itself, or is of a later
// major version.
EndMark decode_mark(std::span<const std::byte> frame,
                    std::uint64_t& mark_digest);

// The length of the mark that a file with these last kMarkTail bytes ends
// with; 0 if it ends with none.
std::uint64_t mark_length(std::span<const std::byte> tail);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_END_MARK_H_
