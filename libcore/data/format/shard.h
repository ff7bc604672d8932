// Shards: DataSet streams in files, read from any record.

#ifndef DL_LIBCORE_DATA_FORMAT_SHARD_H_
#define DL_LIBCORE_DATA_FORMAT_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

// A file with an end mark.  Opening reads the end mark and the metadata only.
// Thread-safe: read() uses pread.
class Shard {
 public:
  // Throws Error: kNoInput, kData ("'x.dls' ends without an end mark; it was
  // cut short").
  explicit Shard(const std::string& path);
  ~Shard();
  Shard(Shard&&) noexcept;

  const std::string& path() const;
  const Metadata& metadata() const;
  // XXH3 from the end mark: names the contents.
  std::uint64_t digest() const;
  // Names the data records alone, by their lengths and checksums: data that
  // were prepared again, whose metadata tell another story, have the same.
  // Throws Error: kIo, kData.
  std::uint64_t contents() const;
  // Streams that were joined in it, as by cat(1); 1 as it was written.
  std::size_t streams() const;
  // Examples of each data record, in order.
  const std::vector<std::int64_t>& records() const;
  std::int64_t examples() const;

  // Unpacks record i.  Throws Error: kData, "'x.dls', record 17: ...", it is
  // damaged or not as the metadata say, or the file was overwritten in place.
  DataSet read(std::size_t i, Form form = Form::kDecoded) const;
  // Fields of tensors that are stored encoded, which metadata() has decoded.
  const std::map<std::string, Field>& encoded() const;
  // Its bytes as they lie in the file, to be shipped to a host that cannot
  // open the file; unpack_record() undoes it.
  std::vector<std::byte> read_packed(std::size_t i) const;
  // Decodes the bytes that read_packed() returned, as read() does.
  DataSet decode(std::size_t i, std::span<const std::byte> packed,
                 Form form = Form::kDecoded) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// encoded: as Shard::encoded().  `name` is for messages.
// Throws Error: kData.
DataSet unpack_record(std::span<const std::byte> packed,
                      const std::map<std::string, Field>& encoded,
                      const std::string& name, Form form = Form::kDecoded);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_SHARD_H_
