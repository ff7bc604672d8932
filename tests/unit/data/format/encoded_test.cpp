// Encoded and ragged tensors: what is read is what was written, and nothing
// damaged is.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "libcore/data/format/decode.h"
#include "libcore/data/format/shard.h"
#include "libcore/data/jpeg.h"
#include "tests/unit/data/sample.h"

namespace dl::data::encoded_test {

using sample::Bytes;
using sample::fault_of;
using tensor::DType;
using tensor::Tensor;

namespace {

using Schema = std::map<std::string, Field>;

const Schema kPictures = {
    {"features", {DType::kU8, {8, 6, 3}, Encoding::kJpeg}},
    {"labels", {DType::kI32, {}}}};
const Schema kSequences = {
    {"features", {DType::kF32, {5, 2}, Encoding::kRagged}},
    {"labels", {DType::kI32, {5}, Encoding::kRagged}}};

std::vector<std::byte> picture(std::uint64_t seed, std::int64_t height = 8,
                               std::int64_t channels = 3) {
  std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(height * 6 * channels));
  Philox random(seed, 0);
  for (std::uint8_t& pixel : pixels)
    pixel = static_cast<std::uint8_t>(random.below(256));
  std::vector<std::byte> file;
  write_jpeg(pixels, {height, 6, channels}, 90, file);
  return file;
}

// n examples in their stored form, and decoded.
DataSet pictures(std::int64_t n) {
  DataSet set;
  Encoded& files = set.encoded["features"] =
      encoded_like(kPictures.at("features"));
  Tensor labels(DType::kI32, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    files.append(picture(static_cast<std::uint64_t>(i)));
    labels.as<std::int32_t>()[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(i);
  }
  set.tensors.emplace("labels", std::move(labels));
  add_decoded(set, kPictures);
  return set;
}

// Sequences of these lengths.
DataSet sequences(const std::vector<std::int64_t>& lengths) {
  const auto n = static_cast<std::int64_t>(lengths.size());
  Tensor values(DType::kF32, {n, 5, 2}), labels(DType::kI32, {n, 5}),
      mask(DType::kU8, {n, 5});
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::size_t t = 0; std::cmp_less(t, lengths[i]); ++t) {
      values.as<float>()[2 * (5 * i + t)] = static_cast<float>(i + 1);
      values.as<float>()[2 * (5 * i + t) + 1] = static_cast<float>(t);
      labels.as<std::int32_t>()[5 * i + t] = static_cast<std::int32_t>(t);
      mask.as<std::uint8_t>()[5 * i + t] = 1;
    }
  DataSet set;
  set.tensors.emplace("features", std::move(values));
  set.tensors.emplace("labels", std::move(labels));
  set.tensors.emplace("features_mask", std::move(mask));
  strip_padding(set, kSequences);
  return set;
}

Bytes stream_of(const Schema& schema, const std::vector<DataSet>& sets) {
  Metadata metadata;
  metadata.schema = schema;
  Bytes bytes;
  StreamWriter writer(io::memory_sink(bytes));
  writer.write_metadata(metadata);
  for (const DataSet& set : sets) writer.write(set);
  writer.close();
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A record of a stream, in its stored form.
DataSet stored(const DataSet& set) {
  DataSet raw;
  for (const auto& [name, t] : set.tensors)
    if (!set.encoded.contains(name) && name != "features_mask")
      raw.tensors.emplace(name, t);
  for (const auto& [name, e] : set.encoded) {
    Tensor values(e.dtype, e.value.with_first(e.offsets.back())),
        offsets(DType::kI64, {e.examples() + 1});
    std::ranges::copy(e.bytes, values.bytes().begin());
    std::ranges::copy(e.offsets, offsets.as<std::int64_t>().begin());
    raw.tensors.emplace(name, std::move(values));
    raw.tensors.emplace(name + ".offsets", std::move(offsets));
  }
  return raw;
}

}  // namespace

TEST_CASE("pictures stay JPEG in a stream, and are pixels to its readers") {
  const std::vector<DataSet> sets = {pictures(3), pictures(1)};
  const Bytes bytes = stream_of(kPictures, sets);
  // The files lie there as they are: compression finds nothing in them.
  StreamReader reader(io::memory_source(bytes, "'x'"));
  CHECK(reader.metadata().schema == plain_schema(kPictures));
  DataSet set;
  for (const DataSet& was : sets) {
    REQUIRE(reader.read(set));
    CHECK(set.encoded.empty());
    CHECK(sample::same(set, was));
  }
  CHECK_FALSE(reader.read(set));
}

TEST_CASE("the stored form is written again to the byte") {
  const Bytes all[] = {stream_of(kPictures, {pictures(3), pictures(2)}),
                       stream_of(kSequences, {sequences({2, 5, 1})})};
  for (const Bytes& bytes : all) {
    StreamReader reader(io::memory_source(bytes, "'x'"), Form::kStored);
    const Schema schema = reader.metadata().schema;
    CHECK(has_encoded(schema));
    std::vector<DataSet> sets;
    for (DataSet set; reader.read(set);) sets.push_back(std::move(set));
    CHECK(text_of(stream_of(schema, sets)) == text_of(bytes));
    // Also without what was decoded.
    for (DataSet& set : sets)
      for (const auto& [name, e] : set.encoded) set.tensors.erase(name);
    CHECK(text_of(stream_of(schema, sets)) == text_of(bytes));
  }
}

TEST_CASE("sequences are padded, and masked, when they are read") {
  const DataSet was = sequences({2, 5, 1});
  CHECK(was.encoded.at("features").offsets ==
        std::vector<std::int64_t>{0, 2, 7, 8});
  StreamReader reader(io::memory_source(stream_of(kSequences, {was}), "'x'"));
  CHECK(reader.metadata().schema.at("features_mask") == Field{DType::kU8, {5}});
  DataSet set;
  REQUIRE(reader.read(set));
  CHECK(sample::same(set, was));
}

TEST_CASE("a part of a record has its part of the stored form") {
  const DataSet set = pictures(5), part = set.slice(1, 3);
  CHECK(part.encoded.at("features").examples() == 2);
  for (std::int64_t i = 0; i < 2; ++i)
    CHECK(std::ranges::equal(part.encoded.at("features").example(i),
                             set.encoded.at("features").example(i + 1)));
}

TEST_CASE("encoded tensors raise the minor version, others do not") {
  Metadata metadata;
  metadata.schema = kPictures;
  CHECK(metadata.to_strings().at("version") == "1.2");
  CHECK(Metadata::from_strings(metadata.to_strings()).schema == kPictures);
  metadata.schema = plain_schema(kPictures);
  CHECK(metadata.to_strings().at("version") == "1.1");
  metadata.schema = kSequences;
  CHECK(Metadata::from_strings(metadata.to_strings()).schema == kSequences);
}

TEST_CASE("encodings that do not go with their tensor are refused") {
  const auto fault = [](const std::string& schema) {
    return fault_of([&] {
      Metadata::from_strings(
          {{"format", "dl-dataset"}, {"version", "1.2"}, {"schema", schema}});
    });
  };
  CHECK_THAT(
      fault(
          R"({"features":{"dtype":"F32","shape":[8,8,3],"encoding":"jpeg"}})"),
      Catch::Contains("want U8[height, width, 1 or 3]"));
  CHECK_THAT(
      fault(R"({"features":{"dtype":"U8","shape":[8,8,4],"encoding":"jpeg"}})"),
      Catch::Contains("want U8[height, width, 1 or 3]"));
  CHECK_THAT(
      fault(R"({"labels":{"dtype":"I32","shape":[],"encoding":"ragged"}})"),
      Catch::Contains("want [steps, ...]"));
  CHECK_THAT(
      fault(R"({"labels":{"dtype":"I32","shape":[2],"encoding":"webp"}})"),
      Catch::Contains("encoding 'webp' is none that this program reads"));
}

TEST_CASE("damaged encoded tensors are refused") {
  const auto fault = [](const Schema& schema, const DataSet& good,
                        const std::function<void(DataSet&)>& damage) {
    DataSet set = stored(good);
    damage(set);
    return fault_of([&] { decode(set, schema); });
  };
  const auto offsets = [](DataSet& set) {
    return set.tensors.at("features.offsets").as<std::int64_t>();
  };
  CHECK(fault(kPictures, pictures(2), [](DataSet&) {}).empty());
  CHECK(fault(kPictures, pictures(2), [](DataSet& set) {
          set.tensors.erase("features.offsets");
        }) == "tensor 'features': tensor 'features.offsets' is missing");
  const std::string rise =
      "tensor 'features': its offsets do not rise from 0 to the ";
  for (const std::int64_t place : {-1, 0, 1 << 20})
    CHECK_THAT(fault(kPictures, pictures(2),
                     [&](DataSet& set) { offsets(set)[1] = place; }),
               Catch::StartsWith(rise));
  CHECK_THAT(
      fault(kPictures, pictures(2), [&](DataSet& set) { offsets(set)[0] = 1; }),
      Catch::StartsWith(rise));
  CHECK_THAT(fault(kPictures, pictures(2),
                   [&](DataSet& set) { offsets(set)[2] -= 1; }),
             Catch::StartsWith(rise));
  CHECK(fault(kPictures, pictures(2), [&](DataSet& set) {
          offsets(set)[1] -= 20;
        }) == "tensor 'features': example 0: it is cut short");
  CHECK_THAT(fault(kPictures, pictures(2),
                   [&](DataSet& set) {
                     set.tensors.at("features").bytes()[0] = std::byte{7};
                   }),
             Catch::StartsWith("tensor 'features': example 0: it is damaged"));
  CHECK(fault(kSequences, sequences({1, 5, 2}), [&](DataSet& set) {
          offsets(set)[1] = 0;
        }) == rise + "8 values that there are");
  CHECK(fault({{"features", {DType::kF32, {4, 2}, Encoding::kRagged}}},
              sequences({1, 5}), [](DataSet&) {}) ==
        "tensor 'features': example 1: 5 steps, the schema says 4 at most");
  CHECK(
      fault(kSequences, sequences({1, 2}),
            [](DataSet& set) {
              set.tensors.emplace("features_mask", Tensor(DType::kU8, {2, 5}));
            }) ==
      "tensor 'features': it has a mask 'features_mask', which follows from "
      "its lengths");
  CHECK(fault({{"features", {DType::kF32, {5, 3}, Encoding::kRagged}}},
              sequences({1, 2}), [](DataSet&) {}) ==
        "tensor 'features': its values are not as the schema says");
  CHECK(fault(kPictures, pictures(2),
              [](DataSet& set) {
                set.tensors.at("features.offsets") = Tensor(DType::kI32, {3});
              }) ==
        "tensor 'features': its offsets are no numbers I64 "
        "[examples + 1]");
}

TEST_CASE("a picture of another size than the schema says is refused") {
  for (const auto& file : {picture(1, 9), picture(1, 8, 1)}) {
    DataSet set;
    Encoded& files = set.encoded["features"] =
        encoded_like(kPictures.at("features"));
    files.append(file);
    CHECK_THAT(
        fault_of([&] { add_decoded(set, kPictures); }),
        Catch::StartsWith("tensor 'features': example 0: its JPEG is a picture "
                          "[") &&
            Catch::EndsWith(", the schema says [8, 6, 3]"));
  }
}

TEST_CASE("more pictures than a record holds decoded are refused") {
  const Schema large = {
      {"features", {DType::kU8, {16384, 16384, 3}, Encoding::kJpeg}}};
  DataSet set;
  Encoded& files = set.encoded["features"] = encoded_like(large.at("features"));
  files.append(picture(1));
  files.append(picture(2));
  CHECK_THAT(fault_of([&] { add_decoded(set, large); }),
             Catch::Contains("once decoded, more than the"));
}

TEST_CASE("a damaged picture is told with its place") {
  DataSet set = pictures(3);
  set.encoded.at("features").bytes[5] ^= std::byte{0xFF};
  const Bytes bytes = stream_of(kPictures, {pictures(1), set});
  const std::string fault = fault_of([&] { sample::read(bytes); });
  CHECK_THAT(fault, Catch::StartsWith("'x', record 1: tensor 'features': "
                                      "example 0: it is damaged ("));
}

TEST_CASE("records with other numbers of examples are refused") {
  DataSet set = pictures(3);
  set.tensors.at("labels") = Tensor(DType::kI32, {2});
  CHECK(fault_of([&] { stream_of(kPictures, {set}); }).find("has 2 examples") !=
        std::string::npos);
}

}  // namespace dl::data::encoded_test
