// Buckets of rows that overflow into a temporary file.

#include "libcore/data/sharding/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/temporary.h"
#include "libcore/io/temporary_name.h"

namespace dl::data {
namespace {

constexpr std::size_t kKey = sizeof(std::uint64_t);
constexpr std::uint64_t kLeastBuffer = 1 << 16;  // of a bucket, to write well

struct Extent {
  std::uint64_t offset, rows;
};

struct Bucket {
  std::vector<std::byte> buffer;  // of rows with their keys
  std::vector<Extent> extents;    // what went to the file before
  std::uint64_t rows = 0;
};

}  // namespace

struct Spool::State {
  std::string beside;
  std::size_t stride;      // of a row with its key
  std::size_t buffer;      // capacity of one, a multiple of stride
  std::uint64_t loadable;  // bytes of a bucket that is read into memory
  std::vector<Bucket> buckets;
  int fd = -1;
  std::uint64_t end = 0;  // of the file

  ~State() {
    if (fd >= 0) ::close(fd);
  }
  [[noreturn]] void fail(Code code, const char* what) const {
    throw Error{code, std::string("cannot ") + what +
                          " a temporary file beside '" + displayed(beside) +
                          "': " + std::strerror(errno)};
  }
  void open();
  void flush(Bucket& bucket);
  void read(std::uint64_t offset, std::span<std::byte> out) const;
};

void Spool::State::open() {
  const io::Temporary name(io::temporary_name(beside));
  fd = ::open(name.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) fail(Code::kCantCreate, "create");
}

void Spool::State::flush(Bucket& bucket) {
  if (fd < 0) open();
  bucket.extents.push_back({end, bucket.buffer.size() / stride});
  std::span<const std::byte> rest(bucket.buffer);
  while (!rest.empty()) {
    const ssize_t n =
        ::pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(end));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(Code::kIo, "write");
    rest = rest.subspan(static_cast<std::size_t>(n));
    end += static_cast<std::uint64_t>(n);
  }
  bucket.buffer.clear();
}

void Spool::State::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n =
        ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) fail(Code::kIo, "read");
    out = out.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

Spool::Spool(std::string beside, std::size_t row_bytes, std::size_t buckets,
             std::uint64_t memory)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.beside = std::move(beside);
  s.stride = row_bytes + kKey;
  s.loadable = memory / 2;
  const std::uint64_t share =
      std::max(memory / 2 / buckets, std::min(kLeastBuffer, memory));
  s.buffer = std::max<std::size_t>(1, share / s.stride) * s.stride;
  s.buckets.resize(buckets);
}
Spool::~Spool() = default;

void Spool::add(std::size_t bucket, std::uint64_t key,
                std::span<const std::byte> row) {
  State& s = *state_;
  Bucket& b = s.buckets[bucket];
  // Reserved at once: memory that is not used is not taken, and growing would
  // hold it twice.
  if (b.buffer.capacity() == 0) b.buffer.reserve(s.buffer);
  const auto word = std::as_bytes(std::span(&key, 1));
  b.buffer.insert(b.buffer.end(), word.begin(), word.end());
  b.buffer.insert(b.buffer.end(), row.begin(), row.end());
  ++b.rows;
  if (b.buffer.size() >= s.buffer) s.flush(b);
}

// Rows are handed out through refs: where a row lies in `loaded`, or else in
// the file.  Unsorted, the extents are walked instead, some rows at a time.
struct Spool::Reader::State {
  struct Ref {
    std::uint64_t key, place;
  };
  Spool::State& spool;
  Bucket bucket;
  bool sorted;
  bool in_memory = true;
  std::vector<std::byte> loaded;  // rows with keys
  std::vector<Ref> refs;
  std::size_t at = 0;  // next of refs, or byte in loaded
  std::size_t extent = 0;

  State(Spool::State& from, std::size_t i, bool by_key)
      : spool(from), bucket(std::move(from.buckets[i])), sorted(by_key) {
    in_memory = bucket.rows * spool.stride <= spool.loadable;
  }
  bool load_more();
  void load_all();
  void add_refs(std::uint64_t base);
};

// Puts the next rows, in the order of add(), into `loaded`.
bool Spool::Reader::State::load_more() {
  if (extent < bucket.extents.size()) {
    Extent& from = bucket.extents[extent];
    const std::uint64_t rows = std::min(
        from.rows, std::max<std::uint64_t>(1, kLeastBuffer / spool.stride));
    loaded.resize(static_cast<std::size_t>(rows) * spool.stride);
    spool.read(from.offset, loaded);
    from.offset += loaded.size();
    from.rows -= rows;
    if (from.rows == 0) ++extent;
    return true;
  }
  loaded = std::move(bucket.buffer);
  bucket.buffer.clear();
  return !loaded.empty();
}

void Spool::Reader::State::add_refs(std::uint64_t base) {
  for (std::size_t i = 0; i < loaded.size(); i += spool.stride) {
    std::uint64_t key = 0;
    std::memcpy(&key, loaded.data() + i, kKey);
    refs.push_back({key, base + i});
  }
}

// In memory: places are in `loaded`.  Too large for that: the buffer joins the
// file and places are there.
void Spool::Reader::State::load_all() {
  if (!in_memory && !bucket.buffer.empty()) spool.flush(bucket);
  std::vector<std::byte> all;
  if (in_memory) all.reserve(bucket.rows * spool.stride);
  while (true) {
    const std::uint64_t base = in_memory ? all.size()
                                         : (extent < bucket.extents.size()
                                                ? bucket.extents[extent].offset
                                                : 0);
    if (!load_more()) break;
    add_refs(base);
    if (in_memory) all.insert(all.end(), loaded.begin(), loaded.end());
  }
  loaded = std::move(all);
  if (!in_memory) loaded.resize(spool.stride);
  std::stable_sort(refs.begin(), refs.end(),
                   [](const Ref& a, const Ref& b) { return a.key < b.key; });
}

Spool::Reader::Reader(Spool& spool, std::size_t bucket, bool sorted)
    : state_(std::make_unique<State>(*spool.state_, bucket, sorted)) {
  if (sorted) state_->load_all();
}
Spool::Reader::~Reader() = default;

std::span<const std::byte> Spool::Reader::next() {
  State& s = *state_;
  const std::size_t row = s.spool.stride - kKey;
  if (s.sorted) {
    if (s.at == s.refs.size()) return {};
    const std::uint64_t place = s.refs[s.at++].place;
    if (s.in_memory)
      return std::span(s.loaded).subspan(static_cast<std::size_t>(place) + kKey,
                                         row);
    s.spool.read(place, s.loaded);
    return std::span(s.loaded).subspan(kKey);
  }
  if (s.at == s.loaded.size()) {
    s.at = 0;
    if (!s.load_more()) return {};
  }
  s.at += s.spool.stride;
  return std::span(s.loaded).subspan(s.at - row, row);
}

std::size_t bucket_count(std::size_t row_bytes, std::uint64_t memory) {
  const std::uint64_t buffer =
      std::max<std::uint64_t>(kLeastBuffer, row_bytes + kKey);
  return static_cast<std::size_t>(
      std::max<std::uint64_t>(1, memory / 2 / buffer));
}

}  // namespace dl::data
