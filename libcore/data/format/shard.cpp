// Random access to the records of a shard.

#include "libcore/data/format/shard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/end_mark.h"
#include "libcore/data/format/record.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/rows.h"
#include "libcore/data/sharding/contradiction.h"
#include "libcore/io/digest.h"
#include "libcore/io/file_stamp.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/zstd.h"

namespace dl::data {
namespace {

// zstd makes what cannot be packed longer, but by less than a 128th.
constexpr std::uint64_t kMaxStored = kMaxRecordBytes + kMaxRecordBytes / 128;

Record unpack(std::span<const std::byte> packed) {
  return decode_record(io::decompress_frame(packed, kMaxRecordBytes));
}

// A part of the file and where it begins.
struct FilePart {
  std::uint64_t begin;
  EndMark mark;
};

}  // namespace

struct Shard::State {
  struct Place {
    std::uint64_t offset, bytes;
  };
  std::string path;
  int fd = -1;
  std::uint64_t digest = 0;
  std::size_t streams = 0;
  Metadata metadata;
  std::map<std::string, Field> encoded;
  std::vector<std::int64_t> records;  // examples of each
  std::vector<Place> places;          // of each
  std::int64_t examples = 0;
  struct Range {
    std::uint64_t begin, bytes, digest;
  };
  std::vector<Range> ranges;  // of the parts
  std::mutex mutex;           // of the stamp
  io::FileStamp stamp;

  State() = default;
  ~State() {
    if (fd >= 0) ::close(fd);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error{Code::kData, in_quotes(path) + what};
  }
  std::uint64_t open();
  std::vector<std::byte> bytes(std::uint64_t offset, std::uint64_t n) const;
  EndMark read_mark(std::uint64_t offset, std::uint64_t n,
                    std::uint64_t& own_digest) const;
  [[noreturn]] void explain(std::uint64_t size, std::uint64_t end) const;
  std::vector<FilePart> parts(std::uint64_t size);
  void take(const FilePart& part, bool first);
  void require_same();
};

// Returns the size of the file.
std::uint64_t Shard::State::open() {
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) < 0)
    throw Error{Code::kNoInput,
                "cannot open " + in_quotes(path) + ": " + std::strerror(errno)};
  if (!S_ISREG(info.st_mode))
    throw Error{Code::kNoInput, "cannot open '" + displayed(path) +
                                    "' as a shard: it is no regular file"};
  stamp = io::stamp_of(info);
  return static_cast<std::uint64_t>(info.st_size);
}

std::vector<std::byte> Shard::State::bytes(std::uint64_t offset,
                                           std::uint64_t n) const {
  if (n > kMaxStored)
    fail(": byte " + std::to_string(offset) + " begins a frame of " +
         std::to_string(n) + " bytes, more than a record may have");
  std::vector<std::byte> buffer(static_cast<std::size_t>(n));
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = ::pread(fd, buffer.data() + done, buffer.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error{Code::kIo, "cannot read " + in_quotes(path) + ": " +
                                 std::strerror(errno)};
    if (got == 0) fail(" became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return buffer;
}

EndMark Shard::State::read_mark(std::uint64_t offset, std::uint64_t n,
                                std::uint64_t& own_digest) const {
  const std::vector<std::byte> frame = bytes(offset, n);
  try {
    return decode_mark(frame, own_digest);
  } catch (Error& e) {
    e.add_context(in_quotes(path));
    throw;
  }
}

// Says why there is no mark that ends at `end`.
void Shard::State::explain(std::uint64_t size, std::uint64_t end) const {
  if (size == 0) fail(" is empty; a DataSet stream has at least an end mark");
  const std::string what =
      io::no_stream_but(bytes(0, std::min<std::uint64_t>(size, 1 << 16)));
  if (!what.starts_with("zstd data")) fail(" is no DataSet stream but " + what);
  if (end < size) fail(" has no end mark at byte " + std::to_string(end));
  fail(" ends without an end mark; it was cut short");
}

// The parts of the file, found from its end; the first one comes last.
std::vector<FilePart> Shard::State::parts(std::uint64_t size) {
  std::vector<FilePart> found;
  std::uint64_t end = size;
  std::vector<std::byte> digests;
  do {
    const std::uint64_t length =
        end < kMarkTail ? 0 : mark_length(bytes(end - kMarkTail, kMarkTail));
    if (length == 0 || length > end) explain(size, end);
    std::uint64_t own = 0;
    FilePart part{0, read_mark(end - length, length, own)};
    end -= length;
    if (part.mark.bytes > end) fail(" was cut at its start");
    part.begin = end -= part.mark.bytes;
    found.push_back(std::move(part));
    const auto word = std::as_bytes(std::span(&own, 1));
    digests.insert(digests.end(), word.begin(), word.end());
    digest = found.size() == 1 ? own : io::digest(digests);
  } while (end > 0);
  return found;
}

void Shard::State::take(const FilePart& part, bool first) {
  Metadata own;
  std::uint64_t most = 0;  // examples that fit a record
  const auto& entries = part.mark.records;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t end =
        i + 1 < entries.size() ? entries[i + 1].offset : part.mark.bytes;
    const Place place{part.begin + entries[i].offset, end - entries[i].offset};
    if (entries[i].examples > 0) {
      if (entries[i].examples > most)
        fail(", record " + std::to_string(records.size()) +
             ": the end mark says " + std::to_string(entries[i].examples) +
             " examples, but a record has at most " + std::to_string(most));
      places.push_back(place);
      records.push_back(static_cast<std::int64_t>(entries[i].examples));
      examples += records.back();
      continue;
    }
    try {
      const Record record = unpack(bytes(place.offset, place.bytes));
      if (!record.set.tensors.empty())
        throw Error{Code::kData, "data where the end mark promises metadata"};
      own.update(Metadata::from_strings(record.metadata));
      if (own.schema.empty()) throw Error{Code::kData, "there is no schema"};
      most = kMaxRecordBytes / row_bytes(own.schema);
    } catch (Error& e) {
      e.add_context(in_quotes(path) + ", metadata");
      throw;
    }
  }
  if (first)
    metadata = std::move(own);
  else
    metadata.join(own,
                  {"a later stream in " + in_quotes(path), "an earlier one"});
}

// After a read: one that was written to in place is read again as a whole, as
// a new time may be all that is new.
void Shard::State::require_same() {
  const std::lock_guard lock(mutex);
  const io::FileStamp now = io::stamp_of(fd);
  if (now == stamp) return;
  constexpr std::uint64_t kPiece = 1 << 20;
  for (const Range& range : ranges) {
    io::Digest sum;
    for (std::uint64_t at = 0; at < range.bytes; at += kPiece)
      sum.add(bytes(range.begin + at, std::min(kPiece, range.bytes - at)));
    if (sum.value() != range.digest)
      fail(" was written to while it was read; put back what it held");
  }
  stamp = now;
}

Shard::Shard(const std::string& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  const std::vector<FilePart> parts = s.parts(s.open());
  s.streams = parts.size();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    s.take(*part, part == parts.rbegin());
  s.encoded = encoded_part(s.metadata.schema);
  if (!s.encoded.empty()) s.metadata = s.metadata.decoded();
  for (const FilePart& part : parts)
    s.ranges.push_back({part.begin, part.mark.bytes, part.mark.digest});
}
Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;

const std::string& Shard::path() const { return state_->path; }
const Metadata& Shard::metadata() const { return state_->metadata; }
const std::map<std::string, Field>& Shard::encoded() const {
  return state_->encoded;
}
std::uint64_t Shard::digest() const { return state_->digest; }
std::size_t Shard::streams() const { return state_->streams; }
const std::vector<std::int64_t>& Shard::records() const {
  return state_->records;
}
std::int64_t Shard::examples() const { return state_->examples; }

// A frame ends with the checksum of what is packed in it.
std::uint64_t Shard::contents() const {
  constexpr std::uint64_t kChecksum = 4;
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < state_->places.size(); ++i) {
    const auto& [offset, size] = state_->places[i];
    const auto length = std::as_bytes(std::span(&state_->records[i], 1));
    const auto sum = state_->bytes(offset + size - std::min(size, kChecksum),
                                   std::min(size, kChecksum));
    all.insert(all.end(), length.begin(), length.end());
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return io::digest(all);
}

std::vector<std::byte> Shard::read_packed(std::size_t i) const {
  require(i < state_->places.size(), "a record outside its shard");
  std::vector<std::byte> packed =
      state_->bytes(state_->places[i].offset, state_->places[i].bytes);
  state_->require_same();
  return packed;
}

DataSet Shard::read(std::size_t i, Form form) const {
  return decode(i, read_packed(i), form);
}

DataSet Shard::decode(std::size_t i, std::span<const std::byte> packed,
                      Form form) const {
  const std::string name =
      in_quotes(state_->path) + ", record " + std::to_string(i);
  DataSet set = unpack_record(packed, state_->encoded, name, form);
  try {
    state_->metadata.check(set);
    if (set.examples() != state_->records[i])
      throw Error{Code::kData, "has " + std::to_string(set.examples()) +
                                   " examples, but the end mark says " +
                                   std::to_string(state_->records[i])};
  } catch (Error& e) {
    e.add_context(name);
    throw;
  }
  return set;
}

DataSet unpack_record(std::span<const std::byte> packed,
                      const std::map<std::string, Field>& encoded,
                      const std::string& name, Form form) {
  try {
    Record record = unpack(packed);
    decode(record.set, encoded);
    if (form == Form::kDecoded) {
      record.set.encoded.clear();
      record.set.views.clear();
    }
    record.set.check();
    return std::move(record.set);
  } catch (Error& e) {
    e.add_context(name);
    throw;
  }
}

}  // namespace dl::data
