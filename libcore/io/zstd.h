// zstd frames in memory: one frame a record, checksum always on.

#ifndef DL_LIBCORE_IO_ZSTD_H_
#define DL_LIBCORE_IO_ZSTD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcore/io/digest.h"
#include "libcore/io/source.h"

namespace dl::io {

// Compresses one frame with content size and checksum.  The same input and
// library version give the same bytes.  Not thread-safe; reuse it.
class FrameCompressor {
 public:
  FrameCompressor();
  ~FrameCompressor();
  std::vector<std::byte> compress(std::span<const std::byte> content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Frame {
  bool skippable = false;
  std::uint32_t magic = 0;         // of a skippable frame: 0x184D2A50..5F
  std::vector<std::byte> content;  // unpacked, or the skippable payload
  std::uint64_t offset = 0;        // where the frame starts in the source
  std::uint64_t stored_bytes = 0;  // its length there
};

// Takes a Source apart into frames.
class FrameReader {
 public:
  // A frame whose content exceeds max_content bytes is refused before memory
  // is taken for it.
  FrameReader(std::unique_ptr<Source> source, std::uint64_t max_content);
  ~FrameReader();

  // Reads the next frame into `frame`, reusing its memory.  False at the end.
  // Throws Error: kData, the bytes are no frame ("no zstd frame but gzip
  // data"), a frame is cut short, its checksum differs. The message names no
  // file: the caller adds that.
  bool next(Frame& frame);

  Source& source();

  // Whether there is something of the next frame, or the end, without waiting
  // for others.
  bool ready() const;

  // Whether next() threw because the source ended inside a frame.
  bool cut_short() const;

  // From now on the bytes of compressed frames go into `digest`, too (not those
  // of skippable frames, which the caller has in full); null stops it.
  void digest_into(Digest* digest);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unpacks exactly one frame.  Throws Error{kData}.
std::vector<std::byte> decompress_frame(std::span<const std::byte> frame,
                                        std::uint64_t max_content);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_ZSTD_H_
