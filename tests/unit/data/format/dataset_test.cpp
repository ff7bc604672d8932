// DataSets, statistics, metadata, normalizers.

#include "libcore/data/format/dataset.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/data/statistics/set_statistics.h"
#include "tests/unit/data/sample.h"

namespace dl::data::dataset_test {

using sample::fault_of;
using sample::has;
using tensor::DType;
using tensor::Tensor;

TEST_CASE("slices and copied examples hold what they should") {
  const DataSet set = sample::set(5, 1);
  DataSet copy = make_like(set, 5);
  for (std::int64_t i = 0; i < 5; ++i) copy_example(copy, 4 - i, set, i);
  DataSet back = make_like(set, 5);
  for (std::int64_t i = 0; i < 5; ++i) copy_example(back, 4 - i, copy, i);
  CHECK(sample::same(back, set));
  CHECK_FALSE(sample::same(copy, set));
  const DataSet part = set.slice(1, 3);
  CHECK(part.examples() == 2);
  CHECK(part.get("labels").value(0) == set.get("labels").value(1));
  CHECK(fault_of([&] { set.get("nothing"); }) != "");
  CHECK(DataSet{}.examples() == 0);
}

TEST_CASE("merged statistics are those of one pass") {
  Philox random(3, 0);
  Tensor all(DType::kF32, {300, 2});
  for (float& v : all.as<float>())
    v = static_cast<float>(1e6 + random.normal());
  Statistics whole, merged;
  whole.add(all, nullptr);
  for (std::int64_t at = 0; at < 300;) {
    const auto n = std::min<std::int64_t>(
        1 + static_cast<std::int64_t>(random.below(40)), 300 - at);
    Statistics part;
    part.add(all.rows(at, at + n), nullptr);
    merged.merge(part);
    at += n;
  }
  CHECK(merged.examples == 300);
  CHECK(merged.count == whole.count);
  CHECK(merged.min == whole.min);
  CHECK(merged.max == whole.max);
  for (int c = 0; c < 2; ++c) {
    double mean = 0, m2 = 0;
    for (int i = 0; i < 300; ++i) mean += all.value(2 * i + c) / 300;
    for (int i = 0; i < 300; ++i)
      m2 += std::pow(all.value(2 * i + c) - mean, 2);
    const auto k = static_cast<std::size_t>(c);
    CHECK(merged.mean[k] == Approx(mean).epsilon(1e-12));
    CHECK(merged.deviation()[k] == Approx(std::sqrt(m2 / 300)).epsilon(1e-6));
    CHECK(merged.m2[k] == Approx(whole.m2[k]).epsilon(1e-9));
  }
  const Json json = merged.to_json();
  CHECK(Statistics::from_json(JsonView(json, Code::kData)) == merged);
}

TEST_CASE("each column is summed from the first row to the last") {
  Philox random(4, 0);
  for (const std::int64_t columns : {1, 2, 3, 4, 17}) {
    Tensor all(DType::kF32, {50, 3, columns}), mask(DType::kF32, {50, 3});
    for (float& v : all.as<float>())
      v = static_cast<float>(1e3 + random.normal());
    for (float& v : mask.as<float>()) v = random.below(4) > 0 ? 1 : 0;
    for (const Tensor* used :
         {static_cast<const Tensor*>(nullptr), &std::as_const(mask)}) {
      Statistics s;
      s.add(all, used);
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto each = [&](const auto& f) {
          for (std::int64_t row = 0; row < 150; ++row)
            if (!used || used->value(row) != 0) f(all.value(row * columns + c));
        };
        double mean = 0, m2 = 0, count = 0;
        each([&](double x) { mean += x, ++count; });
        mean /= count;
        each([&](double x) { m2 += (x - mean) * (x - mean); });
        const auto k = static_cast<std::size_t>(c);
        CHECK(s.mean[k] == mean);
        CHECK(s.m2[k] == m2);
        CHECK(s.min[k] <= mean);
        CHECK(s.max[k] >= mean);
      }
    }
  }
}

TEST_CASE("statistics of several sets count once, in whatever order") {
  Statistics a, b, both;
  a.add(sample::set(50, 1).get("features"), nullptr);
  b.add(sample::set(30, 2).get("features"), nullptr);
  both = a;
  both.merge(b);
  const auto metadata_of = [](const Statistics& s) {
    Metadata m = sample::metadata();
    m.statistics = m.label_statistics = s;
    return m;
  };
  Metadata concatenated = metadata_of(b);  // of a stream of several parts
  concatenated.join(metadata_of(a));
  Metadata all = metadata_of(a);
  for (const Statistics& next : {a, b, a, b, b}) all.join(metadata_of(next));
  all.join(concatenated);
  for (const auto& joined : {*all.statistics, *all.label_statistics}) {
    CHECK(joined.examples == 80);
    CHECK(joined.count == both.count);
    CHECK(joined.mean == both.mean);
    CHECK(joined.m2 == both.m2);
  }
  all.join(sample::metadata());  // has none, so the whole has none
  CHECK_FALSE(all.statistics);
  all.join(metadata_of(a));
  CHECK_FALSE(all.statistics);
}

TEST_CASE("real labels have statistics, classes have none") {
  DataSet set = sample::set(4, 1);
  Metadata m;
  m.classes = {"cat", "dog"};
  SetStatistics classes;
  classes.add(set);
  classes.put_into(m);
  CHECK(m.statistics);
  CHECK_FALSE(m.label_statistics);

  Tensor y(DType::kF32, {4, 2, 1}), mask(DType::kU8, {4, 2});
  for (std::size_t i = 0; i < 8; ++i) {
    y.as<float>()[i] = i % 2 == 0 ? static_cast<float>(i) : 1000;
    mask.as<std::uint8_t>()[i] = i % 2 == 0;
  }
  set.tensors["labels"] = y;
  set.tensors["labels_mask"] = mask;
  SetStatistics real;
  real.add(set);
  real.put_into(m);
  REQUIRE(m.label_statistics);
  CHECK(m.label_statistics->mean == std::vector<double>{3});
  CHECK(m.label_statistics->max == std::vector<double>{6});
  CHECK(m.label_statistics->examples == 4);
  const Metadata back = Metadata::from_strings(m.to_strings());
  CHECK(back.label_statistics == m.label_statistics);

  y.as<float>()[0] = std::numeric_limits<float>::infinity();
  set.tensors["labels"] = y;
  CHECK(has(fault_of([&] { real.add(set); }), "labels have a value in column"));
  // One value a step, with a mask of the same shape.
  set.tensors["labels"] = Tensor(DType::kF32, {4, 2});
  SetStatistics steps;
  steps.add(set);
  steps.put_into(m);
  CHECK(m.label_statistics->mean == std::vector<double>{0});
}

TEST_CASE("statistics leave out labels of steps that features_mask hides") {
  DataSet set;
  Tensor mask(DType::kU8, {2, 3}), values(DType::kF32, {2, 3, 1});
  for (const std::size_t i : {0U, 1U, 3U}) {
    mask.as<std::uint8_t>()[i] = 1;
    values.as<float>()[i] = 10000 + static_cast<float>(i);
  }
  set.tensors["features_mask"] = mask;
  const auto statistics_of = [&](const Tensor& labels) {
    set.tensors["labels"] = labels;
    SetStatistics statistics;
    statistics.add(set);
    Metadata m;
    statistics.put_into(m);
    return m.label_statistics.value();
  };
  Statistics s = statistics_of(values);
  CHECK(s.count == 3);
  CHECK(s.min == std::vector<double>{10000});
  CHECK(s.mean[0] == Approx(10000 + 4.0 / 3));
  Tensor numbers(DType::kI32, {2, 3});
  numbers.as<std::int32_t>()[0] = 6;
  CHECK(statistics_of(numbers).mean == std::vector<double>{2});
  // Three values of the whole are none of three steps.
  CHECK(statistics_of(Tensor(DType::kF32, {2, 3})).count == 2);

  // A weight an example hides all its steps; one a step replaces the mask.
  Tensor whole(DType::kF32, {2});
  whole.as<float>()[0] = 2;
  set.tensors["labels_mask"] = whole;
  s = statistics_of(values);
  CHECK(s.count == 2);
  CHECK(s.max == std::vector<double>{10001});
  Tensor last(DType::kU8, {2, 3});
  last.as<std::uint8_t>()[3] = 1;
  set.tensors["labels_mask"] = last;
  CHECK(statistics_of(values).mean == std::vector<double>{10003});
}

TEST_CASE("a tensor of very many columns has no statistics") {
  DataSet set;
  set.tensors["features"] = Tensor(DType::kU8, {1, kMaxStatisticsColumns + 1});
  Metadata m;
  SetStatistics statistics;
  statistics.add(set);
  statistics.put_into(m);
  CHECK_FALSE(m.statistics);
}

TEST_CASE("masked steps do not count, and nothing counts nowhere") {
  Tensor x(DType::kF32, {2, 2, 1}), mask(DType::kU8, {2, 2});
  x.as<float>()[0] = 1;
  x.as<float>()[1] = 100;
  x.as<float>()[2] = 3;
  x.as<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  mask.as<std::uint8_t>()[0] = mask.as<std::uint8_t>()[2] = 1;
  Statistics s;
  s.add(x, &mask);
  CHECK(s.count == 2);
  CHECK(s.mean == std::vector<double>{2});
  CHECK(s.max == std::vector<double>{3});
  CHECK(has(fault_of([&] { s.add(x, nullptr); }), "not finite"));

  Tensor none(DType::kU8, {2});
  Statistics empty;
  empty.add(x, &none);
  const Json json = empty.to_json();
  Statistics back = Statistics::from_json(JsonView(json, Code::kData));
  back.merge(s);
  CHECK(back.mean == s.mean);
  CHECK(back.min == s.min);
  CHECK(back.examples == 4);
  CHECK(fault_of([&] { s.add(Tensor(DType::kF32, {1, 2}), nullptr); }) != "");
}

TEST_CASE("statistics from outside are read with suspicion") {
  Statistics s;
  s.add(sample::set(3, 1).get("features"), nullptr);
  Json json = s.to_json();
  json["m2"][0] = -1;
  CHECK(fault_of([&] { Statistics::from_json({json, Code::kData}); }) != "");
  json = s.to_json();
  json["min"] = Json::array();
  CHECK(fault_of([&] { Statistics::from_json({json, Code::kData}); }) != "");
  const auto with = [&](const char* key, const Json& value) {
    Json changed = s.to_json();
    if (changed[key].is_array())
      changed[key][0] = value;
    else
      changed[key] = value;
    return fault_of([&] { Statistics::from_json({changed, Code::kData}); });
  };
  CHECK(has(with("examples", 0), "examples"));
  CHECK(has(with("min", s.max[0] + 1), "min, mean and max in that order"));
  CHECK(has(with("mean", s.max[0] + 1), "min, mean and max in that order"));
  CHECK(has(with("max", 1e200), "values up to 1e140"));
}

TEST_CASE("statistics of more examples than can be counted are refused") {
  Statistics s;
  s.add(sample::set(3, 1).get("features"), nullptr);
  s.examples = std::int64_t{1} << 62;
  Statistics other = s;
  other.max[0] += 1;
  CHECK(has(fault_of([&] { s.join(other); }), "more examples than"));
}

TEST_CASE("values whose squares overflow have no statistics") {
  Tensor x(DType::kF64, {2, 1});
  x.as<double>()[0] = 1e200;
  Statistics s;
  CHECK(has(fault_of([&] { s.add(x, nullptr); }), "beyond 1e140"));
  x.as<double>()[0] = 1e140;
  x.as<double>()[1] = -1e140;
  s.add(x, nullptr);
  s.merge(Statistics(s));
  const Json json = s.to_json();
  CHECK(Statistics::from_json({json, Code::kData}) == s);
}

TEST_CASE("tensors without values are refused, in data and in a schema") {
  for (const char* name :
       {"features", "labels", "features_mask", "labels_mask"}) {
    DataSet set = sample::set(4, 1);
    set.tensors[name] = Tensor(DType::kF32, {4, 0});
    INFO(name);
    CHECK(fault_of([&] { set.check(); }) ==
          std::string("tensor '") + name + "' of shape [4, 0] has no values");
    auto text = sample::metadata().to_strings();
    text["schema"] =
        R"({")" + std::string(name) + R"(":{"dtype":"F32","shape":[1,0]}})";
    CHECK(has(fault_of([&] { Metadata::from_strings(text); }), "want integer"));
  }
}

TEST_CASE("an example may have an id and a number") {
  DataSet set = sample::set(2, 1);
  set.tensors["index"] = Tensor(DType::kI64, {2});
  Tensor id(DType::kU8, {2, 3});
  for (const std::size_t i : {0, 1, 2, 3}) id.as<std::uint8_t>()[i] = 'a';
  set.tensors["id"] = id;
  Metadata m = sample::metadata();
  m.schema = Metadata::schema_of(set);
  m.check(set);
  CHECK(Metadata::from_strings(m.to_strings()).schema == m.schema);
  CHECK(id_text(set.get("id"), 0) == "aaa");
  CHECK(id_text(set.get("id"), 1) == "a");
  set.tensors["id"] = Tensor(DType::kU8, {2});
  CHECK(has(fault_of([&] { Metadata::schema_of(set); }), "want U8[width]"));
  set.tensors.erase("id");
  set.tensors["index"] = Tensor(DType::kI32, {2});
  CHECK(has(fault_of([&] { Metadata::schema_of(set); }), "want I64[]"));
}

TEST_CASE("a tensor and a part of it exclude each other") {
  for (const std::string kind :
       {"features", "labels", "features_mask", "labels_mask"}) {
    Metadata m;
    const std::string part = kind + "/left";
    m.schema[part] = {DType::kF32, {2}};
    Metadata().update(m);
    m.schema[kind] = {DType::kF32, {2}};
    CHECK(fault_of([&] { Metadata().update(m); }) ==
          "there is a tensor '" + kind + "' and a tensor '" + part +
              "', want one or the other");
  }
  Metadata both;  // another kind
  both.schema["features"] = both.schema["labels/left"] = {DType::kF32, {2}};
  Metadata().update(both);
}

TEST_CASE("a mask is of as many steps as its sequences") {
  for (const std::string part : {"", "/left"}) {
    DataSet set;
    set.tensors["features" + part] = Tensor(DType::kF32, {2, 5, 3});
    Tensor& mask = set.tensors["features_mask" + part];
    const auto check = [&](const tensor::Shape& shape) {
      mask = Tensor(DType::kU8, shape);
      Metadata metadata;
      metadata.schema = Metadata::schema_of(set);
      metadata.check(set);
    };
    CHECK_NOTHROW(check({2, 5}));
    CHECK_NOTHROW(check({2}));
    CHECK_THROWS_WITH(check({2, 4}), "tensor 'features_mask" + part +
                                         "' has 4 steps an example, 'features" +
                                         part + "' has 5");
    // A row may be a sequence, of how many steps the network knows.
    set.tensors["features" + part] = Tensor(DType::kF32, {2, 15});
    CHECK_NOTHROW(check({2, 5}));
  }
}

TEST_CASE("masks are not negative") {
  for (const std::string name :
       {"features_mask", "labels_mask", "labels_mask/left"})
    for (const double wrong : {-1.0, -0.5, double{NAN}, double{INFINITY}}) {
      DataSet set = sample::set(3, 1);
      Tensor mask(DType::kF32, {3, 2});
      for (float& mark : mask.as<float>()) mark = 0.5F;
      set.tensors[name] = mask;
      Metadata m;
      m.schema = Metadata::schema_of(set);
      m.check(set);
      mask.as<float>()[5] = static_cast<float>(wrong);
      set.tensors[name] = mask;
      CHECK(has(fault_of([&] { m.check(set); }),
                "example 2: '" + name + "' has "));
    }
}

TEST_CASE("metadata from outside is read with suspicion") {
  const auto good = sample::metadata().to_strings();
  const auto refused = [&](const std::string& key, const std::string& value) {
    auto text = good;
    text[key] = value;
    return fault_of([&] { Metadata::from_strings(text); }) != "";
  };
  CHECK_FALSE(refused("other", "x"));
  CHECK(refused("format", "pt"));
  CHECK(refused("version", "one"));
  CHECK(refused("version", "1"));
  for (const std::string start : {"7.", "x"}) {
    auto text = good;
    text["version"] = start + std::string(100000, '0') + "\x1b";
    const std::string said = fault_of([&] { Metadata::from_strings(text); });
    CHECK(has(said, "version"));
    CHECK(said.size() < 150);
  }
  CHECK(refused("schema", "[]"));
  CHECK(refused("schema", R"({"weights":{"dtype":"F32","shape":[]}})"));
  CHECK(refused("schema", R"({"features/":{"dtype":"F32","shape":[]}})"));
  CHECK(refused("schema", R"({"features":{"dtype":"F99","shape":[]}})"));
  CHECK(refused("schema", R"({"features":{"dtype":"F32","shape":[-1]}})"));
  CHECK(refused("schema", R"({"features":{"dtype":"F32","shape":)"
                          R"([4294967296,4294967296]}})"));
  CHECK(refused("classes", R"(["a",1])"));
  CHECK(refused("classes", std::string(1000, '[')));
  CHECK(refused("provenance", R"([{"tool":"x"}])"));
  CHECK(refused("provenance",
                R"([{"tool":"x","version":"1","arguments":[],"seed":-1}])"));
}

TEST_CASE("normalizers do what their names say") {
  Metadata m = sample::metadata();
  Tensor x(DType::kF32, {3, 3});
  for (std::int64_t i = 0; i < 3; ++i) {
    x.as<float>()[static_cast<std::size_t>(3 * i)] = static_cast<float>(i);
    x.as<float>()[static_cast<std::size_t>(3 * i + 1)] = 5;
    x.as<float>()[static_cast<std::size_t>(3 * i + 2)] =
        static_cast<float>(10 * i);
  }
  CHECK(fault_of([&] { Normalizer::fit("minmax", m); }, Code::kConfig) != "");
  m.statistics = Statistics{};
  m.statistics->add(x, nullptr);
  const Normalizer range = Normalizer::fit("minmax", m);
  CHECK(range.shift == std::vector<double>{0, 5, 0});
  CHECK(range.scale == std::vector<double>{0.5, 1, 0.05});
  const Normalizer standard = Normalizer::fit("standardize", m);
  CHECK(standard.shift == std::vector<double>{1, 5, 10});
  CHECK(standard.scale[0] == Approx(std::sqrt(1.5)));
  CHECK(standard.scale[1] == 1);
  CHECK(Normalizer::fit("auto", m) == standard);
  CHECK(fault_of([&] { Normalizer::fit("scale", m); }, Code::kConfig) != "");
  CHECK(fault_of([&] { Normalizer::fit("best", m); }, Code::kConfig) != "");
  m.schema["features"].dtype = DType::kU8;
  const Normalizer pixels = Normalizer::fit("auto", m);
  CHECK(pixels.kind == "scale");
  CHECK((255 - pixels.shift[0]) * pixels.scale[0] == Approx(1));
  const Json json = standard.to_json();
  const Normalizer back = Normalizer::from_json({json, Code::kData});
  CHECK(back.shift == standard.shift);
  CHECK(back.scale == standard.scale);
}

}  // namespace dl::data::dataset_test
