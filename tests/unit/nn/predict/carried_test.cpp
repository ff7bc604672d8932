// Sequences in parts: what a network says of them is what it says of the whole.

#include "libcore/nn/predict/carried.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "libcore/nn/model/initialise.h"
#include "tests/unit/error_of.h"
#include "tests/unit/nn/support.h"
#include "tests/unit/scratch.h"

namespace dl::nn::carried_test {
namespace {

using testing::DType;
using testing::Shape;
using testing::Tensor;

constexpr std::int64_t kSteps = 7, kExamples = 5;

const std::string kEach = R"({"type": "output", "units": 3,
    "loss": "negative_log_likelihood"})";

std::unique_ptr<Network> compile(const NetworkConfig& config, int lanes = 2,
                                 std::int64_t at_once = 4) {
  auto network =
      std::make_unique<Network>(config, data::Normalizers{}, at_once,
                                device::open_lanes("cpu", lanes), false);
  network->device().upload(network->parameters(),
                           initial_parameters(config, layout_of(config)));
  return network;
}

NetworkConfig of_steps(NetworkConfig config, std::int64_t steps) {
  for (InputConfig& input : config.inputs)
    input.shape = input.shape.without_first().with_first(steps);
  return config;
}

std::vector<Tensor> fresh(const NetworkConfig& config) {
  std::vector<Tensor> state;
  for (const CarriedSpec& spec : carried_by(config))
    state.emplace_back(DType::kF32, spec.shape.with_first(kExamples));
  return state;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::ranges::equal(a.as<float>(), b.as<float>());
}

// The parts [0, c), [c, d), ... of the tensors of a set.
data::DataSet part_of(const data::DataSet& set, std::int64_t begin,
                      std::int64_t end) {
  data::DataSet part;
  for (const auto& [name, values] : set.tensors)
    if (!name.starts_with("labels"))
      part.tensors[name] = testing::steps_of(values, begin, end);
  return part;
}

// Whatever the cuts, what is said of the parts is what is said of the whole, to
// the bit; of outputs of whole sequences, at their end.
void check_parts(const NetworkConfig& config, const data::DataSet& set) {
  std::vector<Prediction> whole, some;
  const auto network = compile(config);
  const data::DataSet all = part_of(set, 0, kSteps);
  network->predict(network->batch_of(all).inputs, whole);
  for (const std::vector<std::int64_t>& cuts :
       {std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7},
        {0, 7},
        {0, 3, 7},
        {0, 6, 7},
        {0, 1, 5, 7}}) {
    std::vector<Tensor> state = fresh(config);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const auto own = compile(of_steps(config, cuts[c + 1] - cuts[c]),
                               1 + static_cast<int>(c % 3), 3);
      const data::DataSet part = part_of(set, cuts[c], cuts[c + 1]);
      own->predict(own->batch_of(part).inputs, some, state);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const bool steps = whole[i].values.shape().rank() > 2;
        if (steps)
          CHECK(same(some[i].values,
                     testing::steps_of(whole[i].values, cuts[c], cuts[c + 1])));
        else if (c + 2 == cuts.size())
          CHECK(same(some[i].values, whole[i].values));
        if (whole[i].mask() != nullptr)
          CHECK(same(*some[i].mask(), testing::steps_of(*whole[i].mask(),
                                                        cuts[c], cuts[c + 1])));
      }
    }
  }
}

data::DataSet random_set(const NetworkConfig& config, bool masked) {
  data::DataSet set = testing::random_set(config, kExamples);
  if (!masked) return set;
  for (const WantedInput& input : wanted_by(config, layout_of(config)).inputs) {
    Tensor& mask = set.tensors[input.mask];
    mask = testing::lengths_mask(kExamples, kSteps);
    mask.as<std::uint8_t>()[kSteps + 3] = 1;  // behind padding
  }
  return set;
}

}  // namespace

TEST_CASE("sequences in parts are what they are as a whole, to the bit") {
  const std::string type = GENERATE(
      as<std::string>{}, R"("lstm")", R"("gru")", R"("simple_rnn")",
      R"("lstm", "peepholes": true)", R"("gru", "reset_before": true)");
  const auto cell = [&](int units, bool each) {
    return R"({"type": )" + type + R"(, "units": )" + std::to_string(units) +
           (each ? R"(, "return_sequences": true)" : "") + "}, ";
  };
  CAPTURE(type);
  for (const bool masked : {false, true})
    for (const std::string& layers :
         {cell(5, true), cell(33, true) + cell(4, true), cell(6, false),
          R"({"type": "dense", "units": 4, "activation": "tanh"},
              {"type": "layer_norm"}, {"type": "masking"}, )" +
              cell(5, true) + R"({"type": "batch_norm"}, )" + cell(3, false),
          R"({"type": "conv1d", "filters": 4, "kernel": 1}, )" +
              cell(5, true)}) {
      const NetworkConfig config = testing::sequence("[7, 3]", layers + kEach);
      check_parts(config, random_set(config, masked));
    }
}

TEST_CASE("graphs of sequences go on where they were") {
  const NetworkConfig config = parse_network(R"({"seed": 3, "inputs": [
      {"name": "a", "shape": [7, 3]}, {"name": "b", "shape": [7]}],
    "nodes": [
      {"name": "e", "type": "embedding", "rows": 5, "units": 3, "from": "b"},
      {"name": "sum", "type": "add", "from": ["a", "e"]},
      {"name": "g", "type": "gru", "units": 3, "return_sequences": true},
      {"name": "h", "type": "gru", "shares": "g", "from": "a"},
      {"name": "both", "type": "merge", "from": ["g", "h", "sum"]},
      {"name": "l", "type": "lstm", "units": 4},
      {"name": "x", "type": "output", "units": 2, "from": "both",
       "loss": "mean_squared_error"},
      {"name": "y", "type": "output", "units": 2, "from": "l",
       "loss": "mean_squared_error"}],
    "outputs": ["x", "y"]})",
                                             "'g.json'");
  CHECK(carried_by(config).size() == 4);
  for (const bool masked : {false, true})
    check_parts(config, random_set(config, masked));
}

TEST_CASE("the state of a padded sequence is that of its last real step") {
  const NetworkConfig config =
      testing::sequence("[7, 3]", R"({"type": "lstm", "units": 4}, )" + kEach);
  const data::DataSet set = random_set(config, true);
  std::vector<Tensor> padded = fresh(config);
  std::vector<Prediction> said;
  const auto network = compile(config);
  network->predict(network->batch_of(set).inputs, said, padded);
  const Tensor& x = set.get("features");
  for (std::int64_t i = 2; i < kExamples; ++i) {  // of i + 1 steps
    const auto own = compile(of_steps(config, i + 1));
    data::DataSet one;
    one.tensors["features"] = testing::steps_of(x.rows(i, i + 1), 0, i + 1);
    std::vector<Tensor> state;
    for (const CarriedSpec& spec : carried_by(config))
      state.emplace_back(DType::kF32, spec.shape.with_first(1));
    own->predict(own->batch_of(one).inputs, said, state);
    for (std::size_t k = 0; k < state.size(); ++k)
      CHECK(same(state[k], padded[k].rows(i, i + 1)));
  }
}

TEST_CASE("networks whose parts are not those of the whole are refused") {
  const auto refused = [](const std::string& layers) {
    return error_of(
        [&] { carried_by(testing::sequence("[7, 3]", layers + kEach)); });
  };
  const std::string gru =
      R"({"type": "gru", "name": "g", "units": 4, "return_sequences": true}, )";
  for (const char* type :
       {R"("conv1d", "filters": 2, "kernel": 2, "padding": "causal")",
        R"("max_pool1d", "kernel": 2)", R"("global_pool")",
        R"("multi_head_attention", "heads": 1, "head_size": 2,
           "causal": true)",
        R"("positional_embedding")", R"("flatten")", R"("last_step")",
        R"("reverse")", R"("prelu", "slopes": "element")",
        R"("crop1d", "cropping": [1, 0])", R"("zero_pad1d", "padding": [1, 0])",
        R"("upsample1d", "size": 2)",
        R"("subset", "axis": 0, "begin": 0, "end": 2)"}) {
    CAPTURE(type);
    const std::string why =
        refused(gru + R"({"name": "it", "type": )" + type + "}, ");
    CHECK(why.substr(0, 26) == "64: --keep-state: layer 'i");
    CHECK(why.find("looks at several steps at once") != std::string::npos);
  }
  CHECK(refused(R"({"type": "lstm", "name": "both", "units": 4,
      "bidirectional": "add"}, )") ==
        "64: --keep-state: layer 'both' (lstm) reads sequences from both ends");
  CHECK(refused("") ==
        "64: --keep-state: no layer carries a state from step to step");
  CHECK(refused(R"({"type": "lstm", "units": 4},
      {"type": "repeat", "name": "again", "n": 3}, )" +
                gru)
            .find("layer 'again' (repeat) looks") != std::string::npos);
  const auto like = [] {
    carried_by(parse_network(R"({"inputs": [{"name": "a", "shape": [7, 3]}],
      "nodes": [{"name": "l", "type": "lstm", "units": 4},
        {"name": "r", "type": "repeat_like", "from": ["l", "a"]},
        {"name": "x", "type": "output", "units": 2,
         "loss": "mean_squared_error"}], "outputs": "x"})",
                             "'g.json'"));
  };
  CHECK(
      error_of(like).find("'r' (repeat_like) reads what is said of a whole") !=
      std::string::npos);
}

namespace {

Model model() {
  Model made;
  made.config = testing::sequence(
      "[7, 3]", R"({"type": "lstm", "name": "l", "units": 2}, )" + kEach);
  const Tensor drawn = initial_parameters(made.config, layout_of(made.config));
  for (std::int64_t i = 0; i < drawn.elements(); ++i)
    made.parameters.push_back(static_cast<float>(drawn.value(i)));
  made.normalizers.inputs.resize(1);
  made.normalizers.outputs.resize(1);
  return made;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds 1 to each number of these examples.
void add_one(CarriedState& state, std::int64_t n) {
  for (Tensor& part : state.next(n))
    for (float& x : part.as<float>()) x += 1;
  state.keep();
}

}  // namespace

TEST_CASE("a state is kept in a file, a row for each example") {
  const Scratch scratch;
  const std::string path = scratch / "s";
  const auto go_on = [&](std::initializer_list<std::int64_t> batches) {
    return error_of([&] {
      CarriedState state(model(), model().config, path);
      for (const std::int64_t n : batches) add_one(state, n);
      state.save();
    });
  };
  CHECK(go_on({2, 1}).empty());
  const std::string first = content(path);
  CHECK(go_on({1, 2}).empty());
  const std::string second = content(path);
  CHECK(second != first);
  {
    CarriedState state(model(), model().config, path);
    const auto rows = state.next(3);
    REQUIRE(rows.size() == 2);
    for (const Tensor& part : rows) {
      CHECK(part.shape() == Shape{3, 2});
      for (const float x : part.as<float>()) CHECK(x == 2);
    }
  }
  // A refused call leaves it as it was.
  CHECK(go_on({2}) == "65: there were 2 examples, the state '" + path +
                          "' is of 3, which stays as it is");
  CHECK(go_on({2, 2}) ==
        "65: has more examples than the 3 of the state '" + path + "'");
  CHECK(content(path) == second);
  Model other = model();
  other.parameters[3] += 1;
  CHECK(error_of([&] { CarriedState(other, other.config, path); }) ==
        "65: '" + path + "': is the state of another model");
}

TEST_CASE("damaged states are refused, wherever the damage is") {
  const Scratch scratch;
  const std::string path = scratch / "s";
  {
    CarriedState state(model(), model().config, path);
    add_one(state, 3);
    state.save();
  }
  const std::string whole = content(path);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return error_of([&] { CarriedState(model(), model().config, path); });
  };
  CHECK(refused(whole).empty());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 4);
    if (const std::string why = refused(bytes); why.substr(0, 4) != "65: ")
      FAIL(i << ": " << why);
    if (i % 7 == 0) CHECK(refused(whole.substr(0, i)).substr(0, 4) == "65: ");
  }
  CHECK(refused(whole + "x").substr(0, 4) == "65: ");
  CHECK(refused("id,x\n1,2\n3,4\n").find("is no state of dl-infer but") !=
        std::string::npos);
}

}  // namespace dl::nn::carried_test
