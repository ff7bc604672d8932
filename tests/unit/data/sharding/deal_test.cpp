// Dealing: spool, split, shuffle, names, what shards say.

#include "libcore/data/sharding/deal.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "libcore/data/format/shard.h"
#include "libcore/data/format/shard_names.h"
#include "libcore/data/rows.h"
#include "libcore/data/sharding/set_check.h"
#include "libcore/data/sharding/split.h"
#include "libcore/data/sharding/spool.h"
#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::data::deal_test {

using sample::Bytes;
using sample::fault_of;
using sample::has;

namespace {

using Row = std::vector<std::byte>;

// Every example of the shards, in order, as bytes.
std::vector<Row> rows_of(const std::vector<Dealt>& shards) {
  std::vector<Row> rows;
  for (const Dealt& dealt : shards) {
    const Shard shard(dealt.path);
    CHECK(shard.examples() == dealt.examples);
    Row row;
    for (std::size_t r = 0; r < shard.records().size(); ++r) {
      const DataSet set = shard.read(r);
      for (std::int64_t i = 0; i < set.examples(); ++i) {
        get_row(set, shard.metadata().schema, i, row);
        rows.push_back(row);
      }
    }
  }
  return rows;
}

// An input of these records in `scratch`, and its rows.
std::vector<Row> make_input(const Scratch& scratch, const std::string& name,
                            const std::vector<std::int64_t>& records,
                            std::uint64_t seed = 0) {
  const Bytes bytes = sample::stream(records, seed);
  scratch.write(name,
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return rows_of({{scratch / name, Shard(scratch / name).examples()}});
}

}  // namespace

TEST_CASE("a spool gives back its rows, from memory or from disk") {
  Scratch scratch;
  for (const std::uint64_t memory : {1000000, 2000, 1}) {
    Spool spool(scratch / "x", 3, memory);
    std::vector<Row> added[3];
    std::vector<std::uint64_t> keys[3];
    Philox random(1, memory);
    for (int i = 0; i < 500; ++i) {
      const std::size_t bucket = random.below(3);
      Row row(random.below(5) == 0 ? 70000 : 1 + random.below(200));
      for (std::byte& b : row) b = static_cast<std::byte>(random());
      keys[bucket].push_back(random.below(50));  // some are equal
      spool.add(bucket, keys[bucket].back(), row);
      added[bucket].push_back(row);
    }
    CHECK(scratch.files() == 0);  // its file has no name
    for (std::size_t bucket = 0; bucket < 3; ++bucket) {
      const bool sorted = bucket > 0;
      std::vector<std::size_t> order(added[bucket].size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (sorted)
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
          return keys[bucket][a] < keys[bucket][b];
        });
      Spool::Reader reader(spool, bucket, sorted);
      for (const std::size_t i : order) {
        const auto row = reader.next();
        REQUIRE(std::equal(row.begin(), row.end(), added[bucket][i].begin(),
                           added[bucket][i].end()));
      }
      CHECK(reader.next().empty());
    }
  }
}

TEST_CASE("shards in a row are the input") {
  Scratch scratch;
  const auto rows = make_input(scratch, "in", {5, 1, 7, 4});
  DealOptions o;
  o.prefix = scratch / "s";
  o.shards = 4;
  const auto dealt = deal({scratch / "in"}, o);
  REQUIRE(dealt.size() == 4);
  for (const Dealt& shard : dealt) {
    CHECK(shard.examples >= 4);
    CHECK(shard.examples <= 5);
  }
  CHECK(rows_of(dealt) == rows);
  // Records stay as they are where no shard ends.
  CHECK(Shard(dealt[1].path).records() == std::vector<std::int64_t>{1, 3});
  CHECK(scratch.files() == 5);
}

TEST_CASE("batch and size do what they say") {
  Scratch scratch;
  const auto rows = make_input(scratch, "in", {5, 1, 7, 4});
  DealOptions o;
  o.prefix = scratch / "s";
  o.batch = 3;
  o.size = 16 * 6 + 5;  // a row has 16 bytes: at most 6 examples
  const auto dealt = deal({scratch / "in"}, o);
  REQUIRE(dealt.size() == 3);
  CHECK(rows_of(dealt) == rows);
  for (const Dealt& shard : dealt) CHECK(shard.examples <= 6);
  CHECK(Shard(dealt[2].path).records() == std::vector<std::int64_t>{3, 2});
}

TEST_CASE("a shuffle keeps every example, whatever the memory") {
  Scratch scratch;
  auto rows = make_input(scratch, "in", {50, 60, 70, 80, 1});
  std::vector<std::vector<Row>> orders;
  for (const auto& [seed, memory] :
       std::initializer_list<std::pair<int, std::uint64_t>>{
           {1, 1 << 28}, {1, 300000}, {1, 1}, {2, 1 << 28}}) {
    DealOptions o;
    o.prefix = scratch / "s";
    o.shards = 3;
    o.shuffle = o.force = true;
    o.seed = static_cast<std::uint64_t>(seed);
    o.memory = memory;
    orders.push_back(rows_of(deal({scratch / "in"}, o)));
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] == orders[2]);
  CHECK(orders[0] != orders[3]);
  CHECK(orders[0] != rows);
  std::sort(rows.begin(), rows.end());
  for (auto& order : orders) {
    std::sort(order.begin(), order.end());
    CHECK(order == rows);
  }
}

TEST_CASE("a split does not move examples when the data grow") {
  Scratch scratch;
  const auto small = make_input(scratch, "in", {500});
  make_input(scratch, "more", {700, 300}, 1);
  const auto part_by_row = [&](const std::vector<std::string>& inputs) {
    DealOptions o;
    o.prefix = scratch / "s";
    o.split = "train=0.7,test=0.2,dev=0.1";
    o.force = true;
    std::map<Row, std::string> parts;
    for (const Dealt& d : deal(inputs, o)) {
      const std::string name = d.path.substr(0, d.path.rfind('-'));
      for (const Row& row : rows_of({d})) parts[row] = name;
    }
    return parts;
  };
  const auto before = part_by_row({scratch / "in"});
  const auto after = part_by_row({scratch / "more", scratch / "in"});
  CHECK(before.size() == 500);
  CHECK(after.size() == 1500);
  for (const auto& [row, part] : before) REQUIRE(after.at(row) == part);
  std::map<std::string, int> sizes;
  for (const auto& [row, part] : after) ++sizes[part];
  CHECK(std::abs(sizes[scratch / "s-train"] - 1050) < 80);
  CHECK(std::abs(sizes[scratch / "s-dev"] - 150) < 50);
}

namespace {

Metadata about(const DataSet& set) {
  Metadata data;
  data.schema = Metadata::schema_of(set);
  return data;
}

}  // namespace

TEST_CASE("a group is in one part, whatever type its column has") {
  DataSet set;
  set.tensors["features"] = tensor::Tensor(tensor::DType::kF32, {600, 2});
  tensor::Tensor id(tensor::DType::kU8, {600, 8});
  const auto values = set.tensors["features"].as<float>();
  for (std::size_t i = 0; i < 600; ++i) {
    values[2 * i] = static_cast<float>(i);
    values[2 * i + 1] = static_cast<float>(i % 40);
    const std::string text =
        "p" + std::to_string(i % 40) + "/" + std::to_string(i);
    std::ranges::copy(text, id.as<std::uint8_t>().begin() +
                                static_cast<std::ptrdiff_t>(8 * i));
  }
  set.tensors["id"] = id;
  Metadata data = about(set);
  data.columns = {"time", "patient"};
  const Row row(16);
  const auto parts_of = [&](const SplitRule& rule, std::uint64_t seed) {
    Splitter splitter(parse_split("a=0.7,b=0.3"), seed, rule, data, 600);
    std::vector<std::size_t> parts;
    for (std::int64_t i = 0; i < 600; ++i)
      parts.push_back(splitter.part_of(set, i, row));
    return parts;
  };
  for (const char* group : {"patient", "2", "id:/"}) {
    std::size_t second = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto parts = parts_of({.group = group}, seed);
      for (std::size_t i = 40; i < 600; ++i) REQUIRE(parts[i] == parts[i % 40]);
      second += static_cast<std::size_t>(
          std::count(parts.begin(), parts.begin() + 40, std::size_t{1}));
    }
    CHECK(second > 170);  // of 800, of which 240 are meant
    CHECK(second < 310);
  }
  const auto before = parts_of({.group = "patient"}, 3);
  tensor::Tensor bytes(tensor::DType::kU8, {600, 2});
  for (std::size_t i = 0; i < 600; ++i)
    bytes.as<std::uint8_t>()[2 * i + 1] = static_cast<std::uint8_t>(i % 40);
  set.tensors["features"] = bytes;
  data.schema = Metadata::schema_of(set);
  CHECK(parts_of({.group = "patient"}, 3) == before);
  const auto says = [&](const std::string& group) {
    return fault_of([&] { parts_of({.group = group}, 0); }, Code::kUsage);
  };
  CHECK(has(says("patients"), "no column 'patients'; did you mean 'patient'?"));
  CHECK(has(says("3"), "no column '3'"));
  CHECK(has(says("id:"), "want id, or id:SEPARATOR"));
  CHECK(has(fault_of([&] { parts_of({.group = "id:-"}, 0); }, Code::kData),
            "the id 'p0/0' has no '-'"));
  data.schema.erase("id");
  CHECK(has(says("id:/"), "the examples have no ids"));
}

TEST_CASE("a split in order gives the first part the first examples") {
  const DataSet set = sample::set(10, 1);
  const Row row(16);
  const auto parts_of = [&](const std::string& text, std::int64_t total) {
    Splitter splitter(parse_split(text), 0, {.in_order = true}, about(set),
                      total);
    std::string parts;
    for (std::int64_t i = 0; i < total; ++i)
      parts += std::to_string(splitter.part_of(set, i, row));
    return parts;
  };
  CHECK(parts_of("a=0.7,b=0.3", 10) == "0000000111");
  CHECK(parts_of("a=0.6,b=0.2,c=0.2", 10) == "0000001122");
  CHECK(parts_of("a=0.5,b=0.5", 3) == "001");
}

TEST_CASE("where an example comes from does not decide its part") {
  DataSet set = sample::set(200, 1);
  const auto parts_of = [&] {
    Splitter splitter(parse_split("a=0.5,b=0.5"), 7, {}, about(set));
    Row row;
    std::vector<std::size_t> parts;
    for (std::int64_t i = 0; i < set.examples(); ++i) {
      get_row(set, Metadata::schema_of(set), i, row);
      parts.push_back(splitter.part_of(set, i, row));
    }
    return parts;
  };
  const auto before = parts_of();
  tensor::Tensor index(tensor::DType::kI64, {200});
  tensor::Tensor id(tensor::DType::kU8, {200, 4});
  for (std::size_t i = 0; i < 200; ++i) {
    index.as<std::int64_t>()[i] = static_cast<std::int64_t>(i);
    id.as<std::uint8_t>()[4 * i] = static_cast<std::uint8_t>(i);
  }
  set.tensors["index"] = index;
  set.tensors["id"] = id;
  CHECK(parts_of() == before);
}

TEST_CASE("a stratified split gives each part its share of every class") {
  const std::int64_t kExamples = 5000;
  DataSet set = sample::set(kExamples, 1);
  const auto labels = set.tensors["labels"].as<std::int32_t>();
  Philox random(2, 0);
  for (std::int32_t& label : labels) {
    const auto u = random.below(100);
    label = u < 90 ? 0 : u < 98 ? 1 : 2;
  }
  labels[7] = 3;  // the only one of its class
  const Row row(16);
  const std::string text = "train=0.7,test=0.2,dev=0.1";
  const double shares[] = {0.7, 0.2, 0.1};
  double off[3] = {};  // by how many examples, at worst
  std::size_t lonely[3] = {}, run = 0;
  std::vector<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Splitter splitter(parse_split(text), seed, {.stratify = true}, about(set));
    std::map<std::int32_t, std::array<double, 4>> counts;
    std::vector<std::size_t> parts;
    for (std::int64_t i = 0; i < kExamples; ++i) {
      parts.push_back(splitter.part_of(set, i, row));
      auto& count = counts[labels[static_cast<std::size_t>(i)]];
      ++count[parts.back()];
      ++count[3];
      // At any time: the data may end anywhere.
      for (std::size_t p = 0; p < 3; ++p)
        off[p] = std::max(off[p], std::abs(count[p] - shares[p] * count[3]));
    }
    ++lonely[parts[7]];
    if (seed == 0) first = parts;
    run += parts == first;
  }
  CHECK(run == 1);               // the seed decides who goes where
  CHECK(lonely[0] > lonely[1]);  // with the chances of the parts
  CHECK(lonely[1] > 5);
  CHECK(lonely[2] > 0);

  set.tensors["labels"] = tensor::Tensor(tensor::DType::kF32, {kExamples, 1});
  CHECK(has(fault_of(
                [&] {
                  Splitter(parse_split(text), 0, {.stratify = true},
                           about(set));
                },
                Code::kUsage),
            "--stratify needs a class number"));
}

TEST_CASE("every shard has the statistics of its part and the steps") {
  Scratch scratch;
  make_input(scratch, "in", {40, 60});
  DealOptions o;
  o.prefix = scratch / "s";
  o.shards = 2;
  o.split = "a=0.5,b=0.5";
  o.step = {"dl-shard", "9", {"x"}, 4};
  for (const Dealt& dealt : deal({scratch / "in"}, o)) {
    const Shard shard(dealt.path);
    const bool first = has(dealt.path, "-a-");
    Statistics whole;
    for (const char* n : {"0", "1"}) {
      const Shard part(scratch /
                       (std::string(first ? "s-a-00" : "s-b-00") + n + ".dls"));
      for (std::size_t r = 0; r < part.records().size(); ++r)
        whole.add(part.read(r).get("features"), nullptr);
    }
    REQUIRE(shard.metadata().statistics);
    CHECK(shard.metadata().statistics->examples == whole.examples);
    CHECK(shard.metadata().statistics->max == whole.max);
    CHECK(shard.metadata().statistics->mean[1] == Approx(whole.mean[1]));
    CHECK(shard.metadata().provenance.back().seed == 4);
    CHECK(shard.metadata().classes.size() == 2);
  }
}

TEST_CASE("older shards are an error, or go") {
  Scratch scratch;
  make_input(scratch, "in", {9});
  DealOptions o;
  o.prefix = scratch / "s";
  o.shards = 5;
  deal({scratch / "in"}, o);
  scratch.write("s-x.dls", "not a shard's name");
  o.shards = 2;
  // Found before any input is looked at.
  const std::string error =
      fault_of([&] { deal({"no/such"}, o); }, Code::kCantCreate);
  CHECK(has(error, "s-000.dls': it exists"));
  o.force = true;
  CHECK(fault_of([&] { deal({"no/such"}, o); }, Code::kNoInput) != "");
  CHECK(existing_shards(o.prefix).size() == 5);
  deal({scratch / "in"}, o);
  CHECK(existing_shards(o.prefix) ==
        std::vector<std::string>{scratch / "s-000.dls", scratch / "s-001.dls"});
  CHECK(scratch.files() == 4);
}

TEST_CASE("what cannot be dealt is said and leaves nothing") {
  Scratch scratch;
  make_input(scratch, "in", {3});
  make_input(scratch, "none", {});
  DealOptions o;
  o.prefix = scratch / "s";
  CHECK(has(fault_of([&] { deal({scratch / "none"}, o); }), "no example"));
  o.shards = 4;
  CHECK(fault_of([&] { deal({scratch / "in"}, o); }, Code::kUsage) != "");
  o.shards = 1;
  for (const char* split : {"a", "a=0.5", "a=1,a=0", "a=0.5,a=0.5", "a=2,b=-1",
                            "a/b=0.5,c=0.5", "a=0.5,,b=0.5", ""}) {
    o.split = split;
    if (o.split.empty()) continue;
    INFO(split);
    CHECK(fault_of([&] { deal({scratch / "in"}, o); }, Code::kUsage) != "");
  }
  CHECK(scratch.files() == 2);
}

TEST_CASE("a batch of more bytes than a record has is refused") {
  Scratch scratch;
  make_input(scratch, "in", {3});
  DealOptions o;
  o.prefix = scratch / "s";
  o.batch = (std::int64_t{1} << 26) + 1;
  CHECK(has(fault_of([&] { deal({scratch / "in"}, o); }, Code::kUsage),
            "a record has at most 67108864 of these examples"));
}

// Other programs store counts, years and prices as integers.
TEST_CASE("integer labels have statistics unless they are classes") {
  for (const bool classes : {false, true}) {
    Scratch scratch;
    Metadata m = sample::metadata();
    if (!classes) m.classes.clear();
    const sample::Bytes bytes = sample::stream({5, 4}, 0, m);
    scratch.write("in",
                  {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    DealOptions o;
    o.prefix = scratch / "s";
    deal({scratch / "in"}, o);
    const Metadata dealt = Shard(scratch / "s-000.dls").metadata();
    REQUIRE(dealt.label_statistics.has_value() == !classes);
    if (classes) continue;
    double sum = 0;
    for (const DataSet& set : sample::read(bytes))
      for (const std::int32_t y : set.get("labels").as<std::int32_t>())
        sum += y;
    CHECK(dealt.label_statistics->count == 9);
    CHECK(dealt.label_statistics->mean[0] == Approx(sum / 9));
  }
}

TEST_CASE("names of shards sort like their numbers") {
  CHECK(shard_name("a/b", 7, 10) == "a/b-007.dls");
  CHECK(shard_name("x", 7, 1000) == "x-007.dls");
  CHECK(shard_name("x", 7, 1001) == "x-0007.dls");
  CHECK(fault_of([] { existing_shards("no/such/x"); }, Code::kCantCreate) ==
        "cannot create 'no/such/x-000.dls': No such file or directory");
}

TEST_CASE("shards say which set they are of, the same for the same data") {
  Scratch scratch;
  make_input(scratch, "in", {9, 4});
  const auto set_of = [&](const std::string& prefix, std::uint64_t seed) {
    DealOptions o;
    o.prefix = scratch / prefix;
    o.shards = 2;
    o.shuffle = true;
    o.seed = seed;
    o.split = "a=0.5,b=0.5";
    std::vector<SetPlace> sets;
    for (const Dealt& dealt : deal({scratch / "in"}, o)) {
      const auto set = Shard(dealt.path).metadata().place;
      REQUIRE(set);
      sets.push_back(*set);
    }
    return sets;
  };
  const auto x = set_of("x", 1), y = set_of("y", 1), z = set_of("z", 2);
  REQUIRE(x.size() == 4);
  CHECK(x == y);
  CHECK(x[3] == SetPlace{x[0].id, "b", 1, 2});
  CHECK(z[0].id != x[0].id);
  // Several shards together are none of them.
  Metadata all = Shard(scratch / "x-a-000.dls").metadata();
  all.join(Metadata(all));
  CHECK(all.place == x[0]);
  all.join(Shard(scratch / "x-a-001.dls").metadata());
  CHECK_FALSE(all.place);
}

TEST_CASE("shards of two sets under one prefix are refused") {
  Scratch scratch;
  make_input(scratch, "in", {9});
  make_input(scratch, "other", {8}, 3);
  const auto make = [&](const std::string& prefix, const std::string& from) {
    DealOptions o;
    o.prefix = scratch / prefix;
    o.shards = 4;
    std::vector<std::string> paths;
    for (const Dealt& d : deal({scratch / from}, o)) paths.push_back(d.path);
    return paths;
  };
  const auto move = [&](const std::string& from, const std::string& to) {
    std::filesystem::rename(scratch / from, scratch / to);
  };
  auto all = make("a", "in");
  const auto other = make("b", "other");
  all.insert(all.end(), other.begin(), other.end());
  CHECK(check_sets(all).empty());  // two sets, two prefixes

  // Some are enough as long as the others are there.
  CHECK(check_sets({scratch / "a-001.dls"}).empty());
  move("a-002.dls", "hidden");
  auto missing = check_sets({scratch / "a-001.dls"});
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].path == scratch / "a-002.dls");
  CHECK(has(missing[0].why, "a-001.dls' is one of 4 shards"));
  // Streams and other names are not looked at.
  std::filesystem::copy(scratch / "a-001.dls", scratch / "sample.dls");
  CHECK(
      check_sets({scratch / "sample.dls", "-", "pipe:cat x-000.dls"}).empty());

  move("b-002.dls", "a-002.dls");  // as a run that was killed leaves them
  CHECK(has(fault_of([&] { check_sets(all); }), "is not of one set with"));
  CHECK(check_sets({scratch / "a-000.dls", scratch / "a-001.dls"}).empty());
  std::filesystem::copy(
      std::string(DL_SOURCE_DIR) + "/tests/golden/dataset-1.0.dls",
      scratch / "b-002.dls");
  CHECK(has(fault_of([&] { check_sets(other); }), "is not of one set with"));
  std::filesystem::copy(scratch / "b-001.dls", scratch / "b-004.dls");
  CHECK(has(fault_of([&] {
              check_sets({scratch / "b-001.dls", scratch / "b-004.dls"});
            }),
            "are the same shard"));
}

TEST_CASE(
    "A copy of a shard under another name is refused, as is one of data "
    "without a set") {
  Scratch scratch;
  const auto copy = [&](const std::string& from, const char* to) {
    std::filesystem::copy(from, scratch / to);
  };
  const std::string data =
      std::string(DL_SOURCE_DIR) + "/tests/golden/dataset-1.0.dls";
  copy(data, "in.dls");
  DealOptions o;
  o.prefix = scratch / "tr";
  o.shards = 2;
  deal({scratch / "in.dls"}, o);
  copy(scratch / "tr-000.dls", "other.dls");
  copy(data, "copy");
  const auto refused = [&](const char* a, const char* b) {
    return fault_of([&] { check_sets({scratch / a, scratch / b}); });
  };
  CHECK(has(refused("tr-000.dls", "other.dls"),
            "other.dls' and '" + (scratch / "tr-000.dls") +
                "' are the same shard of one set"));
  CHECK(has(refused("in.dls", "copy"), "hold the same data"));
  CHECK(check_sets({scratch / "tr-001.dls", scratch / "other.dls"}).empty());
  // Held-out data may be some of the others.
  CHECK(check_sets({scratch / "tr-000.dls", scratch / "tr-001.dls"},
                   {scratch / "other.dls"})
            .empty());
}

}  // namespace dl::data::deal_test
