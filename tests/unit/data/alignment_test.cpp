// Data in another order than what they go with.

#include "libcore/data/alignment.h"

#include <catch2/catch.hpp>

#include "tests/unit/data/sample.h"

namespace dl::data::alignment_test {

using dl::tensor::DType;
using dl::tensor::Tensor;
using sample::fault_of;
using sample::has;

namespace {

// Columns a, b, c; classes as given.
Metadata described(const std::vector<std::string>& columns,
                   const std::vector<std::string>& classes) {
  Metadata m = sample::metadata();
  m.schema["features"].shape = {static_cast<std::int64_t>(columns.size())};
  m.columns = columns;
  m.classes = classes;
  return m;
}

DataSet one(std::vector<float> features, std::int32_t label) {
  DataSet set;
  Tensor x(DType::kF32, {1, static_cast<std::int64_t>(features.size())});
  std::ranges::copy(features, x.as<float>().begin());
  Tensor y(DType::kI32, {1});
  y.as<std::int32_t>()[0] = label;
  set.tensors.emplace("features", std::move(x));
  set.tensors.emplace("labels", std::move(y));
  return set;
}

const Metadata kWanted = described({"a", "b", "c"}, {"cat", "dog", "emu"});

}  // namespace

TEST_CASE("columns and classes in another order are put right by name") {
  Metadata data = described({"c", "x", "a", "b"}, {"emu", "cat"});
  data.statistics.emplace();
  data.statistics->add(one({3, 9, 1, 2}, 0).get("features"), nullptr);
  const Alignment alignment = align(data, kWanted, true);
  CHECK(has(alignment.note, "left out: 'x'"));
  CHECK(has(alignment.note, "columns in another order"));
  CHECK(has(alignment.note, "classes in another order"));
  // As it comes out of the wire.
  const dl::Json json = alignment.to_json();
  const Alignment back = Alignment::from_json({json, dl::Code::kProtocol});
  for (const Alignment& a : {alignment, back}) {
    DataSet set = one({3, 9, 1, 2}, 0);
    a.apply(set);
    CHECK(sample::same(set, one({1, 2, 3}, 2)));
    set = one({3, 9, 1, 2}, 1);
    a.apply(set);
    CHECK(sample::same(set, one({1, 2, 3}, 0)));
    const Metadata now = a.apply(data, kWanted);
    CHECK(now.schema == kWanted.schema);
    CHECK(now.columns == kWanted.columns);
    CHECK(now.classes == kWanted.classes);
    CHECK(now.statistics->mean == std::vector<double>{1, 2, 3});
  }
  DataSet bad = one({3, 9, 1, 2}, 2);
  CHECK(has(fault_of([&] { alignment.apply(bad); }), "'labels' has 2"));
}

TEST_CASE("data that agree, or do not say, stay as they are") {
  CHECK(align(kWanted, kWanted, true).changes_nothing());
  CHECK(align(kWanted, {}, true).changes_nothing());
  const Metadata nameless = described({"a", "b", "c"}, {});
  Metadata bare = nameless;
  bare.columns.clear();
  CHECK(align(bare, kWanted, true).changes_nothing());
  // The first ones of more classes.
  const Metadata fewer = described({"a", "b", "c"}, {"cat", "dog"});
  const Alignment same = align(fewer, kWanted, true);
  CHECK(same.changes_nothing());
  CHECK(same.note.empty());
  CHECK(same.apply(fewer, kWanted).classes == kWanted.classes);
  CHECK(same.to_json().is_null());
}

TEST_CASE("data of other columns or classes are refused") {
  const auto refused = [](const Metadata& data, bool labels = true) {
    return fault_of([&] { align(data, kWanted, labels); });
  };
  CHECK(refused(described({"a", "b", "d"}, {})) ==
        "there is no 'c' among the columns: 'a', 'b', 'd'");
  CHECK(has(refused(described({"a", "a", "b", "c"}, {})), "two columns"));
  CHECK(refused(described({"a", "b", "c"}, {"cat", "fox"})) ==
        "its class 1 is 'fox', which is none of 'cat', 'dog', 'emu'; "
        "preprocess it with --classes");
  CHECK(refused(described({"a", "b", "c"}, {"cat", "fox"}), false).empty());
  Metadata wrong = described({"b", "a", "c"}, {});
  wrong.schema["features"].shape = {7};
  CHECK(has(refused(wrong), "7 columns, but there are 3 names"));
}

TEST_CASE("columns of labels are put right by name") {
  Metadata wanted, data;
  wanted.schema["labels"] = data.schema["labels"] = {DType::kF32, {2}};
  wanted.targets = {"depth", "speed"};
  data.targets = {"speed", "depth"};
  Tensor y(DType::kF32, {1, 2});
  y.as<float>()[0] = 5;
  DataSet set;
  set.tensors.emplace("labels", y);
  const Alignment alignment = align(data, wanted, true);
  alignment.apply(set);
  CHECK(set.get("labels").as<float>()[1] == 5);
  CHECK(alignment.apply(data, wanted).targets == wanted.targets);
  data.targets = {"speed", "width"};
  CHECK(has(fault_of([&] { align(data, wanted, true); }), "'depth'"));

  // One value for each class.
  wanted.targets.clear();
  data.targets.clear();
  wanted.classes = {"no", "yes"};
  data.classes = {"yes", "no"};
  const Alignment rows = align(data, wanted, true);
  CHECK(rows.targets == std::vector<std::int64_t>{1, 0});
  CHECK(rows.classes.empty());
}

TEST_CASE("a class that its labels cannot hold is refused") {
  Metadata wanted, data;
  wanted.schema["labels"] = data.schema["labels"] = {DType::kU8, {}};
  for (int i = 0; i < 300; ++i) wanted.classes.push_back(std::to_string(i));
  data.classes = {"299"};
  DataSet set;
  set.tensors.emplace("labels", Tensor(DType::kU8, {1}));
  const Alignment alignment = align(data, wanted, true);
  CHECK(has(fault_of([&] { alignment.apply(set); }), "does not fit"));
}

namespace {

// Columns of features/left, and of labels/kind and labels/place.
Metadata parts(const std::vector<std::string>& columns,
               const std::vector<std::string>& classes,
               const std::vector<std::string>& targets) {
  Metadata m;
  m.schema["features/left"] = {DType::kF32, {2}};
  m.schema["labels/kind"] = {DType::kI32, {}};
  m.schema["labels/place"] = {DType::kF32, {2}};
  m.parts["left"].columns = columns;
  m.parts["kind"].classes = classes;
  m.parts["place"].targets = targets;
  return m;
}

}  // namespace

TEST_CASE("tensors with names are put right by theirs") {
  const Metadata wanted = parts({"a", "b"}, {"cat", "dog"}, {"x", "y"});
  const Metadata data = parts({"b", "a"}, {"dog", "cat"}, {"y", "x"});
  const Alignment found = align(data, wanted, true);
  CHECK(has(found.note, "what is called 'kind': classes in another order"));
  CHECK(has(found.note, "what is called 'left': columns in another order"));
  CHECK_FALSE(found.changes_nothing());
  const dl::Json json = found.to_json();
  const Alignment back = Alignment::from_json({json, dl::Code::kProtocol});
  CHECK(back.orders_labels_as(found));
  CHECK_FALSE(back.orders_labels_as({}));
  CHECK_FALSE(Alignment().orders_labels_as(back));
  for (const Alignment& a : {found, back}) {
    DataSet set = one({7, 8}, 1);
    set.tensors["features/left"] = set.tensors["features"];
    set.tensors["labels/place"] = set.tensors["features"];
    set.tensors["labels/kind"] = set.tensors["labels"];
    set.tensors.erase("features");
    set.tensors.erase("labels");
    a.apply(set);
    for (const char* name : {"features/left", "labels/place"}) {
      CHECK(set.get(name).as<float>()[0] == 8);
      CHECK(set.get(name).as<float>()[1] == 7);
    }
    CHECK(set.get("labels/kind").as<std::int32_t>()[0] == 0);
    const Metadata now = a.apply(data, wanted);
    CHECK(now.parts.at("left").columns == wanted.parts.at("left").columns);
    CHECK(now.parts.at("kind").classes == wanted.parts.at("kind").classes);
    CHECK(now.parts.at("place").targets == wanted.parts.at("place").targets);
    CHECK(align(now, wanted, true).changes_nothing());
  }
  // Prediction does not look at labels.
  CHECK(align(data, wanted, false).orders_labels_as({}));
  CHECK(fault_of([&] {
          align(parts({"a", "c"}, {}, {}), wanted, true);
        }) ==
        "what is called 'left': there is no 'b' among the columns: 'a', 'c'");
}

}  // namespace dl::data::alignment_test
