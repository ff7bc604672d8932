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

// Before each row: its key, and its length.
using Key = std::uint64_t;
using Length = std::uint32_t;
constexpr std::size_t kRowHead = sizeof(Key) + sizeof(Length);
constexpr std::uint64_t kLeastBuffer = 1 << 16;  // of a bucket, to write well

struct Extent {
  std::uint64_t offset, bytes;
};

struct Bucket {
  std::vector<std::byte> buffer;  // of rows with their heads
  std::vector<Extent> extents;    // what went to the file before
  std::uint64_t bytes = 0;        // in all
};

template <typename T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The length of the row whose head is there, with its head; 0: not all of it.
std::size_t whole_row(std::span<const std::byte> bytes, std::size_t at) {
  if (bytes.size() - at < kRowHead) return 0;
  const std::size_t row = kRowHead + number_at<Length>(bytes, at + sizeof(Key));
  return bytes.size() - at < row ? 0 : row;
}

}  // namespace

struct Spool::State {
  std::string beside;
  std::size_t buffer;      // bytes that fill one
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
  bucket.extents.push_back({end, bucket.buffer.size()});
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

Spool::Spool(std::string beside, std::size_t buckets, std::uint64_t memory)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.beside = std::move(beside);
  s.loadable = memory / 2;
  s.buffer = std::max(memory / 2 / buckets, std::min(kLeastBuffer, memory));
  s.buckets.resize(buckets);
}
Spool::~Spool() = default;

void Spool::add(std::size_t bucket, std::uint64_t key,
                std::span<const std::byte> row) {
  State& s = *state_;
  Bucket& b = s.buckets[bucket];
  const auto length = static_cast<Length>(row.size());
  require(!row.empty() && length == row.size(), "a row of another size");
  if (!b.buffer.empty() && b.buffer.size() + kRowHead + row.size() > s.buffer)
    s.flush(b);
  // Reserved at once: memory that is not used is not taken, and growing would
  // hold it twice.
  if (b.buffer.capacity() == 0) b.buffer.reserve(s.buffer);
  const auto put = [&](std::span<const std::byte> bytes) {
    b.buffer.insert(b.buffer.end(), bytes.begin(), bytes.end());
  };
  put(std::as_bytes(std::span(&key, 1)));
  put(std::as_bytes(std::span(&length, 1)));
  put(row);
  b.bytes += kRowHead + row.size();
}

// Rows are handed out through refs: where a row lies in `loaded`, or else in
// the file.  Unsorted, the extents are walked instead, some rows at a time.
struct Spool::Reader::State {
  struct Ref {
    std::uint64_t key, place;  // of the row, behind its head
    Length length;
  };
  Spool::State& spool;
  Bucket bucket;
  bool sorted;
  bool in_memory = true;
  std::vector<std::byte> loaded;  // rows with heads
  std::vector<Ref> refs;
  std::size_t at = 0;  // next of refs, or byte in loaded
  std::size_t extent = 0;

  State(Spool::State& from, std::size_t i, bool by_key)
      : spool(from), bucket(std::move(from.buckets[i])), sorted(by_key) {
    in_memory = bucket.bytes <= spool.loadable;
  }
  bool load_more();
  void load_all();
  void add_refs(std::uint64_t base);
};

// Puts the next whole rows, in the order of add(), into `loaded`.
bool Spool::Reader::State::load_more() {
  if (extent < bucket.extents.size()) {
    Extent& from = bucket.extents[extent];
    loaded.resize(std::min(from.bytes, kLeastBuffer));
    spool.read(from.offset, loaded);
    std::size_t rows = 0;
    while (rows < loaded.size()) {
      const std::size_t row = whole_row(loaded, rows);
      if (row == 0) break;
      rows += row;
    }
    if (rows == 0) {  // the first one is larger
      rows = kRowHead + number_at<Length>(loaded, sizeof(Key));
      loaded.resize(rows);
      spool.read(from.offset, loaded);
    }
    loaded.resize(rows);
    from.offset += rows;
    from.bytes -= rows;
    if (from.bytes == 0) ++extent;
    return true;
  }
  loaded = std::move(bucket.buffer);
  bucket.buffer.clear();
  return !loaded.empty();
}

void Spool::Reader::State::add_refs(std::uint64_t base) {
  for (std::size_t i = 0; i < loaded.size(); i += whole_row(loaded, i))
    refs.push_back({number_at<Key>(loaded, i), base + i + kRowHead,
                    number_at<Length>(loaded, i + sizeof(Key))});
}

// In memory: places are in `loaded`.  Too large for that: the buffer joins the
// file and places are there.
void Spool::Reader::State::load_all() {
  if (!in_memory && !bucket.buffer.empty()) spool.flush(bucket);
  std::vector<std::byte> all;
  if (in_memory) all.reserve(bucket.bytes);
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
  if (s.sorted) {
    if (s.at == s.refs.size()) return {};
    const auto& [key, place, length] = s.refs[s.at++];
    if (s.in_memory)
      return std::span(s.loaded).subspan(static_cast<std::size_t>(place),
                                         length);
    s.loaded.resize(length);
    s.spool.read(place, s.loaded);
    return s.loaded;
  }
  if (s.at == s.loaded.size()) {
    s.at = 0;
    if (!s.load_more()) return {};
  }
  const std::size_t row = whole_row(s.loaded, s.at);
  s.at += row;
  return std::span(s.loaded).subspan(s.at - row + kRowHead, row - kRowHead);
}

std::size_t bucket_count(std::size_t row_bytes, std::uint64_t memory) {
  const std::uint64_t buffer =
      std::max<std::uint64_t>(kLeastBuffer, row_bytes + kRowHead);
  return static_cast<std::size_t>(
      std::max<std::uint64_t>(1, memory / 2 / buffer));
}

}  // namespace dl::data
