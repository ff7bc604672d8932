// Records read ahead: the same, in the same order, and never waited for.

#include "libcore/data/read_ahead.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "tests/unit/data/sample.h"

namespace dl::data::read_ahead_test {

using sample::Bytes;
using sample::fault_of;
using sample::has;

namespace {

void nothing(DataSet&) {}

// A pipe whose other end the test writes to.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe(ends_) == 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void write(const Bytes& bytes, std::size_t from, std::size_t to) const {
    REQUIRE(::write(ends_[1], bytes.data() + from, to - from) ==
            static_cast<ssize_t>(to - from));
  }
  std::unique_ptr<io::Source> source() const {
    return io::open_file("/dev/fd/" + std::to_string(ends_[0]));
  }

 private:
  int ends_[2] = {};
};

// A stream, and where in it each record ends.
struct Written {
  Bytes bytes;
  std::vector<std::size_t> ends;
};

Written write(const std::vector<std::int64_t>& records) {
  Written all;
  StreamWriter writer(io::memory_sink(all.bytes));
  writer.write_metadata(sample::metadata());
  for (const std::int64_t n : records) {
    writer.write(sample::set(n, all.ends.size() + 1));
    all.ends.push_back(all.bytes.size());
  }
  writer.close();
  return all;
}

}  // namespace

TEST_CASE("what is read ahead is what there is") {
  // Smaller and larger than what lies ready at most.
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>(500, 1), {1, 200'000, 3, 150'000, 100'000}}) {
    StreamReader reader(io::memory_source(write(sizes).bytes));
    std::int64_t prepared = 0;
    ReadAhead ahead(reader, [&](DataSet& set) {
      set.tensors["seen"] = tensor::Tensor(tensor::DType::kU8, {++prepared});
    });
    DataSet set;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      REQUIRE(ahead.read(set));
      REQUIRE(set.get("seen").elements() == static_cast<std::int64_t>(i) + 1);
      set.tensors.erase("seen");
      REQUIRE(sample::same(set, sample::set(sizes[i], i + 1)));
    }
    CHECK_FALSE(ahead.read(set));
    CHECK_FALSE(ahead.read(set));
    CHECK(reader.metadata().classes == sample::metadata().classes);
  }
}

TEST_CASE("the next record is read while the caller has one") {
  StreamReader reader(io::memory_source(write({1, 1, 1}).bytes));
  std::promise<void> second;
  int prepared = 0;
  ReadAhead ahead(reader, [&](DataSet&) {
    if (++prepared == 2) second.set_value();
  });
  DataSet set;
  REQUIRE(ahead.read(set));
  second.get_future().wait();
}

TEST_CASE("a record that comes when the last one is done changes no thread") {
  const Written all = write({2, 3, 1});
  const Pipe pipe;
  pipe.write(all.bytes, 0, all.ends[0]);
  StreamReader reader(pipe.source());
  std::vector<std::thread::id> threads;
  ReadAhead ahead(
      reader, [&](DataSet&) { threads.push_back(std::this_thread::get_id()); });
  DataSet set;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) pipe.write(all.bytes, all.ends[i - 1], all.ends[i]);
    REQUIRE(ahead.read(set));
    CHECK(sample::same(set, sample::set(set.examples(), i + 1)));
  }
  CHECK(threads == std::vector(3, std::this_thread::get_id()));
}

TEST_CASE("an error comes where its record would have") {
  Written all = write({2, 3, 1});
  all.bytes[all.ends[1] - 1] ^= std::byte{1};  // of its checksum
  const auto read = [](const Bytes& bytes, const ReadAhead::Prepare& prepare) {
    StreamReader reader(io::memory_source(bytes, "'x'"));
    ReadAhead ahead(reader, prepare);
    DataSet set;
    CHECK(ahead.read(set));
    CHECK(set.examples() == 2);
    return fault_of([&] { ahead.read(set); });
  };
  CHECK(read(all.bytes, nothing) == "'x', record 1: checksum differs");
  int prepared = 0;
  CHECK(read(write({2, 3}).bytes, [&](DataSet&) {
          if (++prepared == 2) throw Error{Code::kData, "not so"};
        }) == "not so");
  all = write({2});
  all.bytes.resize(all.ends[0]);
  CHECK(has(read(all.bytes, nothing), "it was cut short"));
}

TEST_CASE("who leaves does not wait for input") {
  const Written all = write({2, 3});
  const Pipe pipe;
  pipe.write(all.bytes, 0, all.ends[1] - 1);  // the rest never comes
  StreamReader reader(pipe.source());
  DataSet set;
  {
    ReadAhead ahead(reader, nothing);
    REQUIRE(ahead.read(set));
  }
  CHECK(set.examples() == 2);
}

}  // namespace dl::data::read_ahead_test
