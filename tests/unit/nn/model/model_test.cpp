// Model files: what is written is read back, and damage is refused.

#include "libcore/nn/model/model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "libcore/device/open.h"
#include "libcore/io/digest.h"
#include "libcore/io/safetensors.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/initialise.h"
#include "tests/unit/scratch.h"

namespace dl::nn::model_test {

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The model of the example in dl-model(5).
Model tiny_model() {
  Model model;
  model.config = dl::nn::parse_network(
      R"({"input": {"shape": [2]}, "layers": [{"type": "output", "units": 1,
          "loss": "mean_squared_error", "bias": false}]})",
      "tiny");
  model.parameters = {0.5f, -2.0f};
  return model;
}

// One with everything: statistics, updater state of several kinds, counters.
Model rich_model() {
  Model model;
  model.config = dl::nn::parse_network(
      R"({"input": {"shape": [4, 4, 1]}, "seed": 3,
          "updater": {"type": "adam"}, "bias_updater": {"type": "nesterov"},
          "layers": [
            {"type": "conv2d", "filters": 2, "kernel": [2, 2], "name": "first"},
            {"type": "batch_norm", "updater": {"type": "adagrad"}},
            {"type": "dense", "units": 3, "updater": {"type": "sgd"}},
            {"type": "output", "units": 2,
             "loss": "negative_log_likelihood"}]})",
      "rich");
  model.normalizers.inputs[0] = {"standardize", {0.1}, {2.5}};
  model.data.schema["features"] = {dl::tensor::DType::kU8, {4, 4, 1}};
  model.data.schema["labels"] = {dl::tensor::DType::kU8, {}};
  model.data.classes = {"ja", "nein"};
  model.provenance = {{"dl-master", "0.1.0", {"--net", "n\xc3\xa4.json"}, 7}};
  const auto layout = layout_of(model.config);
  const auto fill = [](std::int64_t n, float start) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = start + static_cast<float>(i) / 8;
    return values;
  };
  model.parameters = fill(layout.parameter_count, 1);
  model.statistics = fill(layout.statistics_count, 100);
  model.updater_state = fill(layout.state_count, 1000);
  model.training = {{"epoch", 3}, {"note", "zwei\nZeilen"}};
  model.training_vectors = {{"velocity", fill(5, 9)}, {"residual", fill(2, 7)}};
  return model;
}

std::string load_error(const std::string& path) {
  try {
    load_model(path);
  } catch (const dl::Error& e) {
    CHECK(e.code() == dl::Code::kData);
    return e.what();
  }
  return "loaded";
}

// The file with its header's JSON changed and its length word put right.
std::string with_header(const std::string& file,
                        const std::function<void(dl::Json&)>& change) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  dl::Json header = dl::Json::parse(file.substr(8, length));
  change(header);
  const std::string text = header.dump();
  length = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  std::uint64_t old = 0;
  std::memcpy(&old, file.data(), 8);
  return out + text + file.substr(8 + old);
}

}  // namespace

TEST_CASE("a model comes back as it was written") {
  const Scratch folder;
  const Model model = rich_model();
  save_model(model, folder / "m");
  const Model read = load_model(folder / "m");
  CHECK(to_json(read.config) == to_json(model.config));
  CHECK(read.config.source == to_json(model.config));
  CHECK(read.parameters == model.parameters);
  CHECK(read.statistics == model.statistics);
  CHECK(read.updater_state == model.updater_state);
  CHECK(read.training == model.training);
  CHECK(read.training_vectors == model.training_vectors);
  CHECK(read.normalizers.inputs[0].kind == "standardize");
  CHECK(read.normalizers.inputs[0].shift == model.normalizers.inputs[0].shift);
  CHECK(read.normalizers.inputs[0].scale == model.normalizers.inputs[0].scale);
  CHECK(read.data.schema == model.data.schema);
  CHECK(read.data.classes == model.data.classes);
  CHECK(read.provenance == model.provenance);

  // Equal models give equal bytes.
  save_model(read, folder / "again");
  CHECK(read_file(folder / "m") == read_file(folder / "again"));
}

TEST_CASE("a model written by another program needs no checksum or order") {
  const Scratch folder;
  const Model model = rich_model();
  save_model(model, folder / "m");
  const std::string file = read_file(folder / "m");
  const auto header = dl::io::parse_safetensors(std::as_bytes(std::span(file)));
  // As Python's safetensors would: sorted by name, nothing but our metadata.
  auto metadata = header.metadata;
  metadata.erase("xxh3");
  auto tensors = header.tensors;
  std::ranges::sort(tensors, {}, &dl::io::TensorEntry::name);
  const auto old = tensors;
  const auto head = dl::io::safetensors_header(metadata, tensors);
  std::string other(reinterpret_cast<const char*>(head.data()), head.size());
  for (const auto& entry : old)
    other +=
        file.substr(header.data_offset + entry.begin, entry.end - entry.begin);
  write_file(folder / "o", other);

  std::vector<std::string> said;
  const dl::Log log = [&](dl::Level, const std::string& line) {
    said.push_back(line);
  };
  const Model read = load_model(folder / "o", log);
  CHECK(read.parameters == model.parameters);
  CHECK(read.statistics == model.statistics);
  CHECK(read.updater_state == model.updater_state);
  CHECK(read.training_vectors == model.training_vectors);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("has no checksum"));
  const Model mapped = dl::nn::open_model(folder / "o", log);
  CHECK(std::ranges::equal(mapped.weights(), model.parameters));
  load_model(folder / "m", log);
  CHECK(said.size() == 2);  // ours has one

  // With one, it is that of the order in the file.
  metadata["xxh3"] = header.metadata.at("xxh3");
  const auto again = dl::io::safetensors_header(metadata, tensors);
  write_file(
      folder / "o",
      std::string(reinterpret_cast<const char*>(again.data()), again.size()) +
          other.substr(head.size()));
  CHECK_THAT(load_error(folder / "o"),
             Catch::Contains("not in the order of its network") &&
                 Catch::Contains("delete 'xxh3' from its metadata"));
}

TEST_CASE("a model of normalized targets is not for readers of version 1") {
  const Scratch folder;
  Model model = tiny_model();
  save_model(model, folder / "m");
  CHECK_THAT(read_file(folder / "m"),
             Catch::Contains(R"("version":"1.0")") &&
                 !Catch::Contains("target_normalizer"));
  model.normalizers.outputs[0] = {"standardize", {150}, {0.5}};
  save_model(model, folder / "m");
  CHECK_THAT(read_file(folder / "m"), Catch::Contains(R"("version":"2.0")"));
  CHECK(load_model(folder / "m").normalizers.outputs[0] ==
        model.normalizers.outputs[0]);
  model.normalizers.outputs[0] = {"standardize", {1, 2}, {1, 1}};
  save_model(model, folder / "m");
  CHECK_THAT(load_error(folder / "m"),
             Catch::Contains("has 2 columns, the network 1 outputs"));
}

TEST_CASE("a plain model has neither updater state nor counters") {
  const Scratch folder;
  Model model = rich_model();
  model.updater_state.clear();
  model.training = nullptr;
  model.training_vectors.clear();
  save_model(model, folder / "m");
  CHECK(load_model(folder / "m").updater_state.empty());
  CHECK(load_model(folder / "m").training.is_null());
  CHECK(read_file(folder / "m").find("updater/") == std::string::npos);
}

TEST_CASE("vectors of a run must be vectors, and finite") {
  const Scratch folder;
  Model model = rich_model();
  model.training_vectors["velocity"][1] = INFINITY;
  CHECK_THROWS_AS(save_model(model, folder / "m"), dl::Error);
  model.training_vectors["velocity"][1] = 1;
  save_model(model, folder / "m");
  const std::string file = read_file(folder / "m");
  write_file(folder / "n", with_header(file, [](dl::Json& header) {
               header["training/velocity"]["shape"] = {1, 5};
             }));
  CHECK_THAT(load_error(folder / "n"), Catch::Contains("training/vel"));
}

TEST_CASE("tensors have their names, shapes and values in the file") {
  const Scratch folder;
  const Model model = rich_model();
  save_model(model, folder / "m");
  const std::string file = read_file(folder / "m");
  const auto header = dl::io::parse_safetensors(std::as_bytes(std::span(file)));
  CHECK(header.data_offset % 64 == 0);
  const char* names[] = {"first/weight",
                         "first/bias",
                         "batch_norm1/gamma",
                         "batch_norm1/beta",
                         "dense1/weight",
                         "dense1/bias",
                         "output1/weight",
                         "output1/bias",
                         "batch_norm1/running_mean",
                         "batch_norm1/running_variance",
                         "updater/first/weight/m",
                         "updater/first/weight/v",
                         "updater/first/bias/v",
                         "updater/batch_norm1/gamma/h",
                         "updater/batch_norm1/beta/h",
                         "updater/dense1/bias/v",
                         "updater/output1/weight/m",
                         "updater/output1/weight/v",
                         "updater/output1/bias/v",
                         "training/residual",
                         "training/velocity"};
  REQUIRE(header.tensors.size() == std::size(names));
  std::map<std::string, std::vector<float>> values;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto& entry = header.tensors[i];
    CHECK(entry.name == names[i]);
    CHECK(entry.dtype == "F32");
    auto& v = values[entry.name];
    v.resize((entry.end - entry.begin) / 4);
    std::memcpy(v.data(), file.data() + header.data_offset + entry.begin,
                entry.end - entry.begin);
  }
  CHECK(header.tensors[0].shape == std::vector<std::int64_t>{2, 2, 2, 1});
  CHECK(header.tensors[11].shape == std::vector<std::int64_t>{2, 2, 2, 1});
  CHECK(values["first/weight"][1] == 1.125f);
  CHECK(values["first/bias"][0] == 2.0f);
  CHECK(values["batch_norm1/running_variance"][0] == 100.25f);
  // State ranges: 8 of adam (m, then v), 2 of nesterov, 4 of adagrad.
  CHECK(values["updater/first/weight/m"][0] == 1000.0f);
  CHECK(values["updater/first/weight/v"][0] == 1001.0f);
  CHECK(values["updater/first/bias/v"][0] == 1002.0f);
  CHECK(values["updater/batch_norm1/gamma/h"][0] == 1002.25f);
  CHECK(values["updater/batch_norm1/beta/h"][0] == 1002.5f);
  CHECK(header.tensors[20].shape == std::vector<std::int64_t>{5});
  CHECK(values["training/velocity"][1] == 9.125f);
  CHECK(header.metadata.at("format") == "dl-model");
  CHECK(header.metadata.at("data.classes") == R"(["ja","nein"])");
}

TEST_CASE("a range that two tensors share keeps each component together") {
  const Scratch folder;
  Model model;
  model.config = dl::nn::parse_network(
      R"({"input": {"shape": [2]}, "updater": {"type": "adam"}, "layers": [
          {"type": "output", "units": 1, "loss": "mean_squared_error"}]})",
      "x");
  model.parameters = {1, 2, 3};
  model.updater_state = {10, 11, 12, 20, 21, 22};  // m of all, v of all
  save_model(model, folder / "m");
  CHECK(load_model(folder / "m").updater_state == model.updater_state);
  const std::string file = read_file(folder / "m");
  float tail[9];
  std::memcpy(tail, file.data() + file.size() - sizeof tail, sizeof tail);
  const float want[] = {1, 2, 3, 10, 11, 20, 21, 12, 22};
  CHECK(std::equal(tail, tail + 9, want));
}

TEST_CASE("every flipped bit of a model is noticed") {
  const Scratch folder;
  Model model = rich_model();
  save_model(model, folder / "m");
  const std::string good = read_file(folder / "m");
  std::uint64_t length = 0;
  std::memcpy(&length, good.data(), 8);
  const std::size_t padding = good.substr(8, length).find_last_not_of(' ') + 9;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i >= padding && i < 8 + length) continue;  // spaces: see below
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write_file(folder / "bad", bad);
    try {
      load_model(folder / "bad");
      FAIL("byte " << i << " flipped, and loaded");
    } catch (const dl::Error& e) {
      if (e.code() != dl::Code::kData) FAIL(e.what());
    }
  }
}

TEST_CASE("a model cut short is refused at every length") {
  const Scratch folder;
  save_model(tiny_model(), folder / "m");
  const std::string good = read_file(folder / "m");
  for (std::size_t n = 0; n < good.size(); n += n < 64 ? 1 : 13) {
    write_file(folder / "cut", good.substr(0, n));
    CHECK(load_error(folder / "cut") != "loaded");
  }
  write_file(folder / "long", good + "x");
  CHECK(load_error(folder / "long") != "loaded");
}

TEST_CASE("what is wrong with a model is said") {
  const Scratch folder;
  save_model(tiny_model(), folder / "m");
  const std::string good = read_file(folder / "m");
  const auto say = [&](const std::function<void(dl::Json&)>& change) {
    write_file(folder / "bad", with_header(good, change));
    std::string said = load_error(folder / "bad");
    const std::string name = "'" + folder / "bad" + "': ";
    REQUIRE(said.starts_with(name));
    return said.substr(name.size());
  };
  const auto set = [](const char* key, const char* value) {
    return [=](dl::Json& h) { h["__metadata__"][key] = value; };
  };
  CHECK(say([](dl::Json& h) { h.erase("__metadata__"); }) ==
        "is no model of dl-tools (its metadata lack the format); of weights of "
        "PyTorch dl-import --weights makes one");
  CHECK(say(set("format", "pt")) ==
        "is no model of dl-tools (its metadata lack the format); of weights of "
        "PyTorch dl-import --weights makes one");
  CHECK(say(set("version", "3.0")) ==
        "is a model of version 3.0; this program reads up to version 2");
  CHECK(say(set("version", "x")) == "version 'x' is none");
  CHECK_THAT(say(set("version", "1.7")), Catch::StartsWith("checksum differs"));
  CHECK_THAT(say(set("more", "of it")), Catch::StartsWith("checksum differs"));
  // A damaged key is damage, not somebody's mistake.
  CHECK_THAT(say([](dl::Json& h) {
               std::string network = h["__metadata__"]["network"];
               network.replace(network.find("layers"), 6, "lbyers");
               h["__metadata__"]["network"] = network;
             }),
             Catch::StartsWith("checksum differs"));
  const auto unchecked = [](const char* network) {
    return [=](dl::Json& h) {
      h["__metadata__"]["network"] = network;
      h["__metadata__"].erase("xxh3");
    };
  };
  CHECK_THAT(say(unchecked("{}")),
             Catch::StartsWith("network: input: missing"));
  CHECK_THAT(say(unchecked("{")), Catch::StartsWith("network, line 1"));
  CHECK(say([](dl::Json& h) {
          h["__metadata__"]["xxg3"] = h["__metadata__"]["xxh3"];
          h["__metadata__"].erase("xxh3");
        }) == "the metadata lack 'xxh3', but 'xxg3' looks like one");
  CHECK(say([](dl::Json& h) {
          h["other"] = h["output1/weight"];
          h.erase("output1/weight");
        }) ==
        "its network wants tensor 'output1/weight' F32 [1, 2], found 'other' "
        "F32 [1, 2]");
  CHECK(say([](dl::Json& h) {
          h["output1/weight"]["shape"] = {2, 1};
        }) ==
        "its network wants tensor 'output1/weight' F32 [1, 2], found "
        "'output1/weight' F32 [2, 1]");
  CHECK(say([](dl::Json& h) {
          h["output1/weight"] = {
              {"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {0, 4}}};
          h["z"] = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {4, 8}}};
        }) ==
        "its network wants tensor 'output1/weight' F32 [1, 2], found "
        "'output1/weight' F32 [1]");

  write_file(folder / "empty", "");
  CHECK_THAT(load_error(folder / "empty"),
             Catch::StartsWith("'" + folder / "empty" + "': "));
  try {
    load_model(folder / "missing");
    FAIL("loaded");
  } catch (const dl::Error& e) {
    CHECK(e.code() == dl::Code::kNoInput);
  }
}

TEST_CASE("a model whose numbers are not finite is neither written nor read") {
  const Scratch folder;
  Model model = rich_model();
  save_model(model, folder / "m");
  const std::string before = read_file(folder / "m");
  model.statistics[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(save_model(model, folder / "m"),
                    Catch::Contains("'batch_norm1/running_mean' holds a value "
                                    "that is not finite"));
  CHECK(read_file(folder / "m") == before);

  // A file that somebody else made, with a checksum that is right.
  Model tiny = tiny_model();
  save_model(tiny, folder / "nan");
  std::string file = read_file(folder / "nan");
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(file.data() + file.size() - 4, &infinity, 4);
  const std::string said = [&] {
    write_file(folder / "nan", file);
    return load_error(folder / "nan");
  }();
  const std::string right = said.substr(said.rfind(' ') + 1);
  write_file(folder / "nan", with_header(file, [&](dl::Json& h) {
               h["__metadata__"]["xxh3"] = right;
             }));
  CHECK(load_error(folder / "nan") ==
        "'" + folder / "nan" +
            "': tensor 'output1/weight' holds a value that is not finite");
}

TEST_CASE("a model in which two classes have one name is refused") {
  const Scratch folder;
  Model model = tiny_model();
  model.data.classes = {"yes", "yes"};
  save_model(model, folder / "m");
  CHECK_THAT(load_error(folder / "m"),
             Catch::EndsWith("two classes are called 'yes'"));
}

TEST_CASE("a model with more class names than outputs is refused") {
  Scratch folder;
  Model model = tiny_model();
  const auto read_with = [&](std::vector<std::string> names) {
    model.data.classes = std::move(names);
    save_model(model, folder / "m");
    (void)load_model(folder / "m");
  };
  CHECK_NOTHROW(read_with({"no", "yes"}));  // of a single output
  CHECK_THROWS_WITH(read_with({"a", "b", "c"}),
                    Catch::EndsWith("has the names of 3 classes, its network "
                                    "1 outputs"));
}

TEST_CASE("a model that cannot be written leaves nothing behind") {
  const Scratch folder;
  CHECK_THROWS_AS(save_model(tiny_model(), folder / "no/such/m"), dl::Error);
  try {
    save_model(tiny_model(), "/dev/full");
    FAIL("written");
  } catch (const dl::Error& e) {
    CHECK(e.code() == dl::Code::kIo);
  }
}

TEST_CASE("models of released versions load for ever") {
  const std::string golden = DL_SOURCE_DIR "/tests/golden/model/";
  const Model plain = load_model(golden + "tiny-1.0.safetensors");
  CHECK(plain.parameters == std::vector<float>{0.5f, -2.0f});
  const Model rich = load_model(golden + "checkpoint-1.0.safetensors");
  const Model now = rich_model();
  CHECK(rich.parameters == now.parameters);
  CHECK(rich.statistics == now.statistics);
  CHECK(rich.updater_state == now.updater_state);
  CHECK(rich.training == now.training);
  CHECK(rich.data.classes == now.data.classes);
  CHECK(rich.normalizers.inputs[0].scale == now.normalizers.inputs[0].scale);
  CHECK(to_json(rich.config) == to_json(now.config));
}

TEST_CASE("the example of dl-model(5) is what is written") {
  const Scratch folder;
  save_model(tiny_model(), folder / "m");
  const std::string bytes = read_file(folder / "m");
  std::string dump;
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    char text[64];
    snprintf(text, sizeof text, "%04zx ", i);
    dump += text;
    std::string right;
    for (std::size_t k = i; k < i + 16; ++k) {
      if (k >= bytes.size()) {
        dump += "   ";
        continue;
      }
      const auto byte = static_cast<unsigned char>(bytes[k]);
      snprintf(text, sizeof text, " %02x", byte);
      dump += text;
      right += byte >= 32 && byte < 127 ? static_cast<char>(byte) : '.';
      if (byte == '\\') right += '\\';  // as scdoc wants it
    }
    dump += "  " + right + "\n";
  }
  INFO(dump);
  const std::string page = read_file(DL_SOURCE_DIR "/man/dl-model.5.scd");
  CHECK(page.find("```\n" + dump + "```") != std::string::npos);
}

TEST_CASE("a model goes into a network and comes out again") {
  Model model = rich_model();
  const auto network = [&](bool training) {
    return dl::nn::Network(model.config, model.normalizers.inputs[0], 4,
                           dl::device::open_lanes("reference", 1), training);
  };
  dl::nn::Network trainer = network(true);
  put_into(trainer, model);
  Model copy = model;
  copy.parameters.clear();
  copy.statistics.clear();
  copy.updater_state.clear();
  take_from(trainer, copy);
  CHECK(copy.parameters == model.parameters);
  CHECK(copy.statistics == model.statistics);
  CHECK(copy.updater_state == model.updater_state);

  // Without updater state, training starts with a fresh one.
  Model plain = model;
  plain.updater_state.clear();
  put_into(trainer, plain);
  take_from(trainer, copy);
  const auto fresh = initial_updater_state(layout_of(model.config));
  CHECK(std::equal(copy.updater_state.begin(), copy.updater_state.end(),
                   fresh.as<float>().begin(), fresh.as<float>().end()));

  dl::nn::Network user = network(false);
  put_into(user, model);
  take_from(user, copy);
  CHECK(copy.parameters == model.parameters);
  CHECK(copy.statistics == model.statistics);
  CHECK(copy.updater_state.empty());
}

}  // namespace dl::nn::model_test
