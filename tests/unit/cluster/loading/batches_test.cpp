// Records come from files or from the master, and become mini-batches in the
// order that the epoch names.

#include "libcore/cluster/loading/batches.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::batches_test {

using dl::data::Epoch;
using dl::data::Shard;

namespace {

const dl::Log kSilent = [](dl::Level, const std::string&) {};

// Writes a shard and says what the master would say of it.
ShardInfo make_shard(const Scratch& dir, const std::string& name,
                     const std::vector<std::int64_t>& records,
                     std::uint64_t seed) {
  const auto bytes = sample::stream(records, seed);
  dir.write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const Shard shard(dir / name);
  return {dir / name, shard.digest(), shard.records()};
}

FetchRecord never() {
  return [](std::uint32_t, std::uint32_t) -> std::vector<std::byte> {
    throw dl::Error{dl::Code::kBug, "nothing should be fetched"};
  };
}

struct Fetched {
  int calls = 0;
  FetchRecord from(const std::string& path) {
    return [this, path](std::uint32_t, std::uint32_t record) {
      ++calls;
      return Shard(path).read_packed(record);
    };
  }
};

}  // namespace

TEST_CASE("a shard is opened only where and when it is what the master has") {
  Scratch dir, elsewhere;
  const ShardInfo good = make_shard(dir, "a.dls", {4, 3}, 1);
  const std::string root = dir / "";
  std::string why;
  CHECK(open_local(good, root, why));
  CHECK(open_local(good, "/", why));

  CHECK_FALSE(open_local(good, elsewhere / "", why));
  CHECK(sample::has(why, "outside"));

  // A sibling whose name begins alike is not below the root.
  std::filesystem::create_directory(dir / "in");
  std::filesystem::create_directory(dir / "inner");
  const ShardInfo inner = make_shard(dir, "inner/a.dls", {2}, 1);
  CHECK_FALSE(open_local(inner, dir / "in", why));

  // A link may not lead out.
  std::filesystem::create_symlink(good.path, dir / "in/link.dls");
  ShardInfo link = good;
  link.path = dir / "in/link.dls";
  CHECK_FALSE(open_local(link, dir / "in", why));
  CHECK(open_local(link, root, why));
  ShardInfo dots = good;
  dots.path = (dir / "in") + "/../a.dls";
  CHECK_FALSE(open_local(dots, dir / "in", why));

  ShardInfo other = good;
  ++other.digest;
  CHECK_FALSE(open_local(other, root, why));
  CHECK(sample::has(why, "differs"));
  other = good;
  other.records = {4, 4};
  CHECK_FALSE(open_local(other, root, why));

  ShardInfo pipe = good;
  pipe.path = "pipe:touch x";
  CHECK_FALSE(open_local(pipe, root, why));
  pipe.path = "/dev/zero";
  CHECK_FALSE(open_local(pipe, "/", why));
  CHECK(sample::has(why, "regular"));
}

TEST_CASE("records of unreadable shards are fetched once and kept") {
  Scratch dir;
  const ShardInfo local = make_shard(dir, "a.dls", {4, 3}, 1);
  const ShardInfo distant = make_shard(dir, "far.dls", {2, 5}, 9);
  ShardInfo unknown = distant;
  unknown.path = "/no/such/far.dls";
  Fetched fetched;
  RecordStore store({local, unknown}, "/", fetched.from(distant.path), 1 << 20,
                    kSilent);
  CHECK(store.unreadable() == std::vector<std::uint32_t>{1});
  CHECK(sample::same(*store.get(0, 1), Shard(local.path).read(1)));
  CHECK(fetched.calls == 0);
  CHECK(sample::same(*store.get(1, 1), Shard(distant.path).read(1)));
  store.get(1, 1);
  CHECK(fetched.calls == 1);
}

TEST_CASE("a record that a network cannot take is named by file and number") {
  Scratch dir;
  const ShardInfo info = make_shard(dir, "a.dls", {4, 3}, 1);
  Fetched fetched;
  RecordStore store({info}, "/", fetched.from(info.path), 1 << 20, kSilent,
                    [](const dl::data::DataSet& record) {
                      if (record.examples() == 3)
                        throw dl::Error{dl::Code::kData, "example 2 is odd"};
                    });
  CHECK_NOTHROW(store.get(0, 0));
  CHECK_THROWS_WITH(store.get(0, 1),
                    "'" + info.path + "', record 1: example 2 is odd");
  CHECK_THROWS_AS(store.get(0, 1), BadRecord);
  CHECK(fetched.calls == 2);  // the master's copy might have been better
}

TEST_CASE("a record that does not fit here only is the master's") {
  Scratch dir;
  const ShardInfo info = make_shard(dir, "a.dls", {4, 3}, 1);
  const ShardInfo twin = make_shard(dir, "twin.dls", {4, 3}, 1);
  Fetched fetched;
  int checked = 0;
  RecordStore store({info}, "/", fetched.from(twin.path), 1 << 20, kSilent,
                    [&](const dl::data::DataSet&) {
                      if (++checked == 1)
                        throw dl::Error{dl::Code::kData, "example 2 is odd"};
                    });
  CHECK(sample::same(*store.get(0, 1), Shard(twin.path).read(1)));
  CHECK(store.unreadable() == std::vector<std::uint32_t>{0});
}

TEST_CASE("a master that does not send a record does not make it bad") {
  RecordStore store(
      {ShardInfo{"/no/such.dls", 7, {4}}}, "/",
      [](std::uint32_t, std::uint32_t) -> std::vector<std::byte> {
        throw dl::Error{dl::Code::kTryAgain, "the master is gone"};
      },
      1 << 20, kSilent);
  try {
    store.get(0, 0);
    FAIL("was given");
  } catch (const BadRecord&) {
    FAIL("it is called bad");
  } catch (const dl::Error& error) {
    CHECK(error.code() == dl::Code::kTryAgain);
  }
}

TEST_CASE("the cache keeps what was used last, within its bytes") {
  Scratch dir;
  const ShardInfo info = make_shard(dir, "a.dls", {4, 4, 4}, 1);
  ShardInfo unknown = info;
  unknown.path = "/no/such.dls";
  const std::size_t record = 4 * (3 * 4 + 4);
  Fetched fetched;
  RecordStore store({unknown}, "/", fetched.from(info.path), 2 * record,
                    kSilent);
  store.get(0, 0);
  store.get(0, 1);
  store.get(0, 0);
  CHECK(fetched.calls == 2);
  store.get(0, 2);  // takes the place of record 1
  store.get(0, 0);
  CHECK(fetched.calls == 3);
  store.get(0, 1);
  CHECK(fetched.calls == 4);
}

TEST_CASE("a file that goes bad in the middle of a run is replaced") {
  Scratch dir;
  const ShardInfo info = make_shard(dir, "a.dls", {40, 40}, 1);
  const ShardInfo twin = make_shard(dir, "twin.dls", {40, 40}, 1);
  Fetched fetched;
  std::string warning;
  RecordStore store({info}, "/", fetched.from(twin.path), 0,
                    [&](dl::Level level, const std::string& line) {
                      if (level == dl::Level::kWarning) warning = line;
                    });
  CHECK(store.unreadable().empty());
  const auto first = store.get(0, 0);

  // One bit within the second record, which ends before the end mark.
  std::string damaged = dir.read("a.dls");
  char& byte = damaged[damaged.size() * 2 / 3];
  byte = static_cast<char>(byte ^ 1);
  std::fstream(info.path, std::ios::binary | std::ios::in | std::ios::out)
      << damaged;
  CHECK(sample::same(*store.get(0, 1), Shard(twin.path).read(1)));
  CHECK(fetched.calls == 1);
  CHECK(sample::has(warning, "a.dls"));
  CHECK(store.unreadable() == std::vector<std::uint32_t>{0});
}

TEST_CASE("a record that is bad at the master too names file and record") {
  ShardInfo info{"/no/such.dls", 7, {4, 3}};
  Scratch dir;
  const ShardInfo other = make_shard(dir, "b.dls", {4, 2}, 1);
  Fetched fetched;
  RecordStore store({info}, "/", fetched.from(other.path), 1 << 20, kSilent);
  const std::string error = sample::fault_of([&] { store.get(0, 1); });
  CHECK(sample::has(error, "'/no/such.dls', record 1: has 2 examples, not 3"));

  RecordStore garbage(
      {info}, "/",
      [](std::uint32_t, std::uint32_t) {
        return std::vector<std::byte>(100, std::byte{7});
      },
      1 << 20, kSilent);
  CHECK(sample::has(sample::fault_of([&] { garbage.get(0, 0); }),
                    "'/no/such.dls', record 0: "));
}

TEST_CASE("an epoch's batches hold every example once, in the named order") {
  Scratch dir;
  const ShardInfo a = make_shard(dir, "a.dls", {4, 3}, 1);
  const ShardInfo b = make_shard(dir, "b.dls", {5}, 5);
  RecordStore training({a, b}, "/", never(), 1 << 20, kSilent);
  RecordStore evaluation({b}, "/", never(), 1 << 20, kSilent);
  BatchPlan plan;
  plan.training.records = {a.records, b.records};
  plan.evaluation.records = {b.records};
  plan.batch = 5;
  plan.seed = 3;
  plan.prefetch = 2;
  BatchLoader loader(plan, training, evaluation);
  CHECK(loader.examples(false, {}) == 12);
  CHECK(loader.batches(false, {}) == 3);
  CHECK(loader.batches(true, {}) == 1);

  loader.add({false, 2, 0, 3});
  loader.add({true, 2, 0, 1});
  std::multiset<float> seen;
  for (std::int64_t i = 0; i < 3; ++i) {
    const LoadedBatch& batch = loader.next();
    CHECK(batch.index == i);
    CHECK(batch.epoch == 2);
    CHECK(batch.set.examples() == (i < 2 ? 5 : 2));
    for (const float x : batch.set.get("features").as<float>()) seen.insert(x);

    // The same as assembled by hand.
    RecordStore mine({a, b}, "/", never(), 0, kSilent);
    Epoch epoch(plan.training, plan.batch, plan.seed, 2, true);
    LoadedBatch by_hand;
    assemble(epoch, i, mine, by_hand);
    CHECK(sample::same(by_hand.set, batch.set));
  }
  std::multiset<float> all;
  for (const ShardInfo* info : {&a, &b})
    for (std::size_t r = 0; r < info->records.size(); ++r) {
      const auto set = Shard(info->path).read(r);
      for (const float x : set.get("features").as<float>()) all.insert(x);
    }
  CHECK(seen == all);

  // Evaluation takes the stored order.
  const LoadedBatch& last = loader.next();
  CHECK(last.evaluation);
  CHECK(sample::same(last.set, Shard(b.path).read(0)));
}

TEST_CASE("a loader forgets what is dropped and goes on with what is added") {
  Scratch dir;
  const ShardInfo a = make_shard(dir, "a.dls", {10, 10}, 1);
  RecordStore training({a}, "/", never(), 1 << 20, kSilent);
  RecordStore evaluation({}, "/", never(), 0, kSilent);
  BatchPlan plan;
  plan.training.records = {a.records};
  plan.batch = 2;
  BatchLoader loader(plan, training, evaluation);
  for (int round = 0; round < 20; ++round) {
    loader.add({false, 0, 0, 10});
    CHECK(loader.next().index == 0);
    loader.drop();
    loader.add({false, 1, 4, 2});
    const LoadedBatch& batch = loader.next();
    CHECK(batch.epoch == 1);
    CHECK(batch.index == 4);
    CHECK(loader.next().index == 5);
  }
}

TEST_CASE("what comes after a batch may be looked at, by its serial") {
  Scratch dir;
  const ShardInfo a = make_shard(dir, "a.dls", {10, 10}, 1);
  RecordStore training({a}, "/", never(), 1 << 20, kSilent);
  RecordStore evaluation({}, "/", never(), 0, kSilent);
  BatchPlan plan;
  plan.training.records = {a.records};
  plan.batch = 2;
  std::set<std::uint64_t> serials;  // of all loaders
  for (int round = 0; round < 3; ++round) {
    BatchLoader loader(plan, training, evaluation);
    CHECK(loader.after() == nullptr);
    loader.add({false, 0, 0, 10});
    loader.next();
    for (int i = 1; i < 10; ++i) {
      const LoadedBatch* after = nullptr;
      while ((after = loader.after()) == nullptr) std::this_thread::yield();
      CHECK(after->index == i);
      CHECK(after->serial != 0);
      CHECK(serials.insert(after->serial).second);
      CHECK(&loader.next() == after);
    }
    CHECK(loader.after() == nullptr);
  }
}

TEST_CASE("what goes wrong while loading ahead is told when it is asked for") {
  ShardInfo info{"/no/such.dls", 7, {4, 3}};
  RecordStore training(
      {info}, "/",
      [](std::uint32_t, std::uint32_t) -> std::vector<std::byte> {
        throw dl::Error{dl::Code::kTryAgain, "gone"};
      },
      0, kSilent);
  RecordStore evaluation({}, "/", never(), 0, kSilent);
  BatchPlan plan;
  plan.training.records = {info.records};
  plan.batch = 2;
  BatchLoader loader(plan, training, evaluation);
  loader.add({false, 0, 0, 4});
  CHECK(sample::has(
      sample::fault_of([&] { loader.next(); }, dl::Code::kTryAgain), "gone"));
}

}  // namespace dl::cluster::batches_test
