// DataSet streams (.dls), dl-dataset(5): zstd frames, each a safetensors blob;
// metadata records carry no tensors; an end mark closes the stream.
//
// Metadata may come first (schema, provenance) and again before the end mark
// (class names and statistics that only the whole pass knows).  Streams
// concatenate.  A stream that ends without its end mark is damaged.

#ifndef DL_LIBCORE_DATA_FORMAT_STREAM_H_
#define DL_LIBCORE_DATA_FORMAT_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/data/examples.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"

namespace dl::data {

// A record as it lies in a stream.
struct PackedRecord {
  std::vector<std::byte> frame;
  std::int64_t examples = 0;
};

// Encodes and compresses records for a StreamWriter; used by one thread, of
// which there may be several.
class RecordPacker {
 public:
  // metadata: outlives the packer, and has the schema.  name: of the stream,
  // for messages.
  RecordPacker(const Metadata& metadata, std::string name);
  ~RecordPacker();
  // Throws Error: kData, `set` does not fit the schema, or is too large.
  PackedRecord pack(const DataSet& set);

 private:
  friend class StreamWriter;
  struct State;
  std::unique_ptr<State> state_;
};

class StreamWriter {
 public:
  explicit StreamWriter(std::unique_ptr<io::Sink> sink);
  ~StreamWriter();  // without close(): the file does not appear

  // The first call comes before any write(); the schema must be known by then.
  void write_metadata(const Metadata& metadata);
  // Throws Error: kData, `set` does not fit the schema.  kIo.
  void write(const DataSet& set);
  void write(const PackedRecord& record);
  // Writes the end mark and closes the sink.
  void close();

  std::int64_t examples() const;
  std::uint64_t bytes() const;  // written so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class StreamReader : public Examples {
 public:
  // Reads up to the first data record or the end, so metadata() is set.
  // Throws Error: kData, "'x.dls' is no DataSet stream (starts with ...)".
  explicit StreamReader(std::unique_ptr<io::Source> source,
                        Form form = Form::kDecoded,
                        std::uint64_t max_record_bytes = kMaxRecordBytes);
  ~StreamReader() override;

  // Metadata read so far; complete when read() returned false.
  const Metadata& metadata() const override;

  // The next record; false at the end of the stream.
  // Throws Error: kData, "'x.dls', record 17: checksum differs", "... ends
  // without an end mark; it was cut short".
  bool read(DataSet& set) override;

  // Whether read() finds something, if perhaps not yet all, of what it is to
  // give, without waiting for others.
  bool ready() const override;
  // As io::Source::stop_at().
  void stop_at(int stop) override;

  // Stops; checks that the source closes well.
  void close() override;

  const std::string& name() const override;
  std::int64_t examples() const;  // given out so far
  std::int64_t records() const;   // of data, given out so far
  std::uint64_t bytes() const;    // taken from the source so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_STREAM_H_
