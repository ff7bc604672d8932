// Network configurations: every mistake is named, every default is spelt out.

#include "libcore/nn/config/config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <sstream>

#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"

namespace dl::nn::config_test {

namespace {

const std::string kRepository = DL_SOURCE_DIR;

std::string read_file(const std::string& path) {
  std::ifstream in(kRepository + "/" + path);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Error of parse_network() for a document that it must refuse.
std::string refusal(const std::string& text) {
  try {
    parse_network(text, "'x.json'");
  } catch (const dl::Error& e) {
    CHECK(e.code() == dl::Code::kConfig);
    return e.what();
  }
  return "accepted";
}

// A network with `layers` in front of its output, and `top` keys.
std::string network(const std::string& layers, const std::string& top = "") {
  return R"({"input": {"shape": [8, 8, 3]},)" + top + R"("layers": [)" +
         layers + (layers.empty() ? "" : ",") +
         R"({"type": "output", "units": 4, "loss": "mean_squared_error"}]})";
}

std::string layer_refusal(const std::string& layer) {
  return refusal(network(layer));
}

}  // namespace

TEST_CASE("the reference networks have their known sizes") {
  const auto size = [](const std::string& name) {
    return dl::nn::layout_of(
               parse_network(read_file("scripts/share/examples/" + name), name))
        .parameter_count;
  };
  CHECK(size("lenet.json") == 67780);
  CHECK(size("cifar10.json") == 18804810);
  CHECK(size("digits.json") > 1000);
}

TEST_CASE("the CIFAR-10 network is read as it is written") {
  const auto net = parse_network(
      read_file("scripts/share/examples/cifar10.json"), "cifar10");
  REQUIRE(net.layers.size() == 15);
  const auto& conv = net.layers[0];
  CHECK(conv.name == "conv2d1");
  CHECK(conv.settings.text("padding") == "same");
  CHECK(conv.settings.integers("kernel")[0] == 4);
  CHECK(conv.settings.text("activation") == "relu");
  CHECK(conv.training.updater.kind == dl::device::Updater::kAdam);
  CHECK(conv.training.updater.learning_rate.initial == 0.01);
  CHECK(conv.training.bias_updater.learning_rate.initial == 0.02);
  CHECK(conv.training.updater.beta2 == 0.999);
  CHECK(conv.training.regularization.l1 == 1e-4);
  CHECK(conv.training.regularization.l2 == 5e-4);
  CHECK(conv.training.regularization.l1_bias == 0);
  CHECK(conv.training.bias_init == 0.01);
  CHECK(conv.training.weight_init.kind == dl::nn::WeightInit::kXavierUniform);
  CHECK(conv.training.gradient_normalization ==
        dl::nn::GradientNormalization::kRenormalizeL2PerLayer);
  const auto& dense = net.layers[10];
  CHECK(dense.name == "dense1");
  CHECK(dense.training.updater.learning_rate.initial == 0.001);
  CHECK(dense.training.bias_updater.learning_rate.initial == 0.02);
  CHECK(net.layers[11].settings.number("rate") == 0.5);
  CHECK(net.layers[12].training.updater.learning_rate.initial == 0.01);
  CHECK(output_of(net).loss.kind == dl::device::Loss::kNegativeLogLikelihood);
}

TEST_CASE("biases follow the nearest bias_updater, else the updater") {
  const std::string sgd = R"({"type": "sgd", "learning_rate": )";
  const auto rates = [&](const std::string& top, const std::string& layer) {
    const auto net = parse_network(
        network(R"({"type": "dense", "units": 2)" + layer + "}", top), "x");
    const auto& t = net.layers[0].training;
    return std::pair{t.updater.learning_rate.initial,
                     t.bias_updater.learning_rate.initial};
  };
  const std::string top = R"("updater":)" + sgd + "1},";
  const std::string top_bias = R"("bias_updater":)" + sgd + "2},";
  const std::string own = R"(,"updater":)" + sgd + "3}";
  const std::string own_bias = R"(,"bias_updater":)" + sgd + "4}";
  CHECK(rates("", "") == std::pair{0.001, 0.001});
  CHECK(rates(top, "") == std::pair{1.0, 1.0});
  CHECK(rates(top, own) == std::pair{3.0, 3.0});
  CHECK(rates(top + top_bias, "") == std::pair{1.0, 2.0});
  CHECK(rates(top + top_bias, own) == std::pair{3.0, 2.0});
  CHECK(rates(top + top_bias, own + own_bias) == std::pair{3.0, 4.0});
  CHECK(rates(top, own_bias) == std::pair{1.0, 4.0});
}

TEST_CASE("defaults") {
  const auto net = parse_network(
      network(R"({"type": "conv2d", "filters": 2, "kernel": [3, 2]},
                 {"type": "average_pool2d", "kernel": [3, 2]},
                 {"type": "max_pool2d", "stride": [1, 1]},
                 {"type": "batch_norm"}, {"type": "dropout"},
                 {"type": "dense", "units": 3,
                  "activation": {"type": "leaky_relu"}},
                 {"type": "activation", "activation": {"type": "elu"}})"),
      "x");
  CHECK(net.seed == 0);
  const auto settings = [&](std::size_t i) { return net.layers[i].settings; };
  CHECK(settings(0).text("activation") == "identity");
  CHECK(settings(0).flag("bias"));
  CHECK(net.layers[0].training.updater.kind == dl::device::Updater::kSgd);
  CHECK(net.layers[0].training.weight_init.kind == dl::nn::WeightInit::kXavier);
  CHECK(settings(1).integers("stride")[0] == 3);  // the kernel
  CHECK(settings(1).integers("stride")[1] == 2);
  CHECK(settings(2).integers("kernel")[0] == 2);
  CHECK(settings(2).integers("stride")[0] == 1);
  CHECK(settings(3).number("decay") == 0.9);
  CHECK(settings(3).number("epsilon") == 1e-5);
  CHECK(settings(4).number("rate") == 0.5);
  CHECK(settings(5).activation("activation").alpha == 0.01);
  CHECK(settings(6).activation("activation").alpha == 1);
  CHECK(output_of(net).activation.kind == dl::device::Activation::kIdentity);
}

TEST_CASE("updaters take Deeplearning4j's defaults") {
  const auto updater = [](const std::string& type) {
    return parse_network(
               network("", R"("updater": {"type": ")" + type + "\"},"), "x")
        .layers[0]
        .training.updater;
  };
  CHECK(updater("sgd").learning_rate.initial == 1e-3);
  CHECK(updater("nesterov").learning_rate.initial == 0.1);
  CHECK(updater("nesterov").momentum.initial == 0.9);
  CHECK(updater("adam").learning_rate.initial == 1e-3);
  CHECK(updater("adam").epsilon == 1e-8);
  CHECK(updater("adagrad").learning_rate.initial == 0.1);
  CHECK(updater("adagrad").epsilon == 1e-6);
  CHECK(updater("rmsprop").learning_rate.initial == 0.1);
  CHECK(updater("rmsprop").beta2 == 0.95);
  CHECK(updater("rmsprop").epsilon == 1e-8);
  CHECK(updater("adamw").learning_rate.initial == 1e-3);
  CHECK(updater("adamw").weight_decay == 0.01);
  CHECK(updater("adam").weight_decay == 0);
  CHECK(updater("amsgrad").beta2 == 0.999);
  CHECK(updater("adamax").beta2 == 0.999);
  CHECK(updater("nadam").epsilon == 1e-8);
  CHECK(updater("adabelief").epsilon == 1e-14);
  CHECK(updater("adadelta").learning_rate.initial == 1);
  CHECK(updater("adadelta").beta2 == 0.95);
  CHECK(updater("adadelta").epsilon == 1e-6);
}

TEST_CASE("the activation of the output follows from its loss") {
  const auto output = [](const std::string& loss) {
    return output_of(parse_network(R"({"input": {"shape": [4]}, "layers": [
        {"type": "output", "units": 3, "loss": ")" +
                                       loss + "\"}]}",
                                   "x"))
        .activation.kind;
  };
  using dl::device::Activation;
  CHECK(output("negative_log_likelihood") == Activation::kSoftmax);
  CHECK(output("binary_cross_entropy") == Activation::kSigmoid);
  CHECK(output("mean_squared_error") == Activation::kIdentity);
  CHECK(output("mean_absolute_error") == Activation::kIdentity);
}

TEST_CASE("a mistake is named with its place, what was wanted and found") {
  CHECK(layer_refusal(R"({"type": "dense", "units": -1})") ==
        "'x.json': layers[0].units: want integer 1..2147483647, got -1");
  CHECK(layer_refusal(R"({"type": "dense", "units": 3.7})") ==
        "'x.json': layers[0].units: want integer 1..2147483647, got 3.7");
  CHECK(layer_refusal(R"({"type": "dense", "units": "5"})") ==
        "'x.json': layers[0].units: want integer 1..2147483647, got \"5\"");
  CHECK(layer_refusal(R"({"type": "dense", "units": 18446744073709551615})") ==
        "'x.json': layers[0].units: want integer 1..2147483647, "
        "got 18446744073709551615");
  CHECK(layer_refusal(R"({"type": "dense", "units": null})") ==
        "'x.json': layers[0].units: want integer 1..2147483647, got null");
  CHECK(layer_refusal(R"({"type": "dense", "unitz": 5})") ==
        "'x.json': layers[0].unitz: unknown key; did you mean 'units'?\n"
        "'x.json': layers[0].units: missing; want integer 1..2147483647");
  CHECK(layer_refusal(R"({"type": "dropout", "rate": 1})") ==
        "'x.json': layers[0].rate: want number in [0, 1), got 1");
  CHECK(layer_refusal(R"({"type": "batch_norm", "epsilon": 0})") ==
        "'x.json': layers[0].epsilon: want number > 0, got 0");
  CHECK(layer_refusal(R"({"type": "dense", "units": 2, "bias": 1})") ==
        "'x.json': layers[0].bias: want true or false, got 1");
  CHECK(layer_refusal(R"({"type": "dense", "units": 2, "name": "a/b"})") ==
        "'x.json': layers[0].name: want a name of letters, digits, '_', '-', "
        "'.', got \"a/b\"");
  CHECK(
      layer_refusal(R"({"type": "conv2d", "filters": 1, "kernel": [3, 0]})") ==
      "'x.json': layers[0].kernel[1]: want integer 1..65535, got 0");
  CHECK(layer_refusal(R"({"type": "conv2d", "filters": 1, "kernel": 3})") ==
        "'x.json': layers[0].kernel: want [height, width], integers 1..65535, "
        "got 3");
  CHECK(layer_refusal("7") == "'x.json': layers[0]: want layer object, got 7");
  CHECK(layer_refusal(R"("dense")") ==
        "'x.json': layers[0]: want layer object, as {\"type\": \"dense\"}, got "
        "\"dense\"");
  CHECK(refusal("[]") == "'x.json': want network object, got []");
  CHECK(refusal(R"({"input": {"shape": []}, "layers": []})") ==
        "'x.json': input.shape: want array of 1 to 7 integers 1..2147483647, "
        "got []\n"
        "'x.json': layers: want array of one or more layer objects, got []");
}

TEST_CASE("what other programs call it is told as what it is called here") {
  const auto hint = [](const std::string& said) {
    const auto at = said.find("; here it is called ");
    return at == said.npos ? "" : said.substr(at + 20);
  };
  const auto loss = [&](const std::string& name) {
    return hint(layer_refusal(R"({"type": "output", "units": 2, "loss": ")" +
                              name + "\"}"));
  };
  for (const char* name :
       {"mcxent", "MCXENT", "NEGATIVELOGLIKELIHOOD", "crossentropy",
        "categorical_crossentropy", "CrossEntropyLoss", "nll_loss"})
    CHECK(loss(name) == "'negative_log_likelihood'");
  for (const char* name : {"xent", "BINARY_XENT", "binary_crossentropy", "bce"})
    CHECK(loss(name) == "'binary_cross_entropy'");
  for (const char* name : {"mse", "MSELoss", "MeanSquaredError"})
    CHECK(loss(name) == "'mean_squared_error'");
  CHECK(loss("mae") == "'mean_absolute_error'");
  CHECK(loss("hinge").empty());
  const auto updater = [&](const std::string& name) {
    return hint(
        refusal(network("", R"("updater": {"type": ")" + name + R"("},)")));
  };
  CHECK(updater("nesterovs") == "'nesterov'");
  CHECK(updater("Adam") == "'adam'");
  CHECK(updater("RMSprop") == "'rmsprop'");
  CHECK(updater("lion").empty());
  // The meaning depends on the context.
  CHECK(hint(layer_refusal(R"({"type": "Linear", "units": 2})")) == "'dense'");
  CHECK(hint(layer_refusal(
            R"({"type": "dense", "units": 2, "activation": "linear"})")) ==
        "'identity'");
  CHECK(hint(layer_refusal(
            R"({"type": "dense", "units": 2, "activation": "leakyrelu"})")) ==
        "'leaky_relu'");
  const auto rate = [&](const std::string& name) {
    return hint(
        layer_refusal(R"({"type": "stochastic_depth", ")" + name + "\": 0.1}"));
  };
  for (const char* name : {"p", "drop_prob", "drop_rate", "probability"})
    CHECK(rate(name) == "'rate'");
  for (const char* name : {"keep_prob", "survival", "survival_probability"})
    CHECK(rate(name) == "'rate', the share that is dropped");
  CHECK(hint(layer_refusal(R"({"type": "gaussian_noise", "stddev": 1})"))
            .starts_with("'deviation'"));
  CHECK_THAT(layer_refusal(R"({"type": "drop_connect"})"),
             Catch::EndsWith("; here that is a key of layers, 'weight_noise', "
                             "see dl-network(5)"));
}

TEST_CASE("an unknown type or key brings the nearest one to mind") {
  CHECK(layer_refusal(R"({"type": "conv2"})") ==
        "'x.json': layers[0].type: want a type that 'man dl-layers' lists, got "
        "\"conv2\"; did you mean 'conv2d'?");
  CHECK_THAT(layer_refusal(R"({"type": "GraphAttention"})"),
             Catch::Contains("got \"GraphAttention\"; like it are '") &&
                 Catch::Contains("'multi_head_attention'"));
  CHECK(layer_refusal(R"({"type": "quux"})").ends_with("got \"quux\""));
  CHECK(layer_refusal(R"({"type": "flatten", "units": 3})") ==
        "'x.json': layers[0].units: not a key of flatten layer; the keys of "
        "flatten layer are type, name, time_distributed");
  CHECK(refusal(network("", R"("optimizer": 1,)")) ==
        "'x.json': optimizer: unknown key; here it is called 'updater'");
  CHECK(refusal(network("", R"("colour": 1,)")) ==
        "'x.json': colour: unknown key; the keys of a network with layers "
        "are seed, input, augment, updater, bias_updater, regularization, "
        "constraints, "
        "weight_noise, weight_init, bias_init, gradient_normalization, "
        "gradient_threshold, tbptt_length, tbptt_update, layers");
  CHECK(refusal(network("", R"("bias_updatr": 1,)")) ==
        "'x.json': bias_updatr: unknown key; did you mean 'bias_updater'?");
  CHECK(refusal(network("", R"("updater": {"type": "adamm"},)")) ==
        "'x.json': updater.type: want " + dl::nn::tag_of("updater")->wanted() +
            ", got \"adamm\"; did you mean 'adam'?");
  CHECK_THAT(dl::nn::tag_of("updater")->wanted(),
             Catch::StartsWith("one of sgd, nesterov, momentum, adam, "));
  CHECK(refusal(network("", R"("updater": {"type": "sgd", "lr": 0.1},)"))
            .starts_with("'x.json': updater.lr: unknown key; did you mean "
                         "'learning_rate'?"));
  // Hints for an updater of unknown type: the keys of all, each once.
  CHECK(refusal(network("", R"("updater": {"speed": 1},)")) ==
        "'x.json': updater.speed: unknown key; the keys of updater are type, "
        "learning_rate, momentum, beta1, beta2, decay, epsilon, epsilon_at, "
        "start, momentum_decay, weight_decay\n"
        "'x.json': updater.type: missing; want " +
            dl::nn::tag_of("updater")->wanted());
  CHECK(refusal(network("", R"("updater": {"type": "adadelta", "rho": 0.9},)"))
            .find("here it is called 'decay'") != std::string::npos);
  CHECK(refusal(network("", R"("updater": {"type": "sgd", "beta1": 0.9},)")) ==
        "'x.json': updater.beta1: not a key of sgd updater; the keys of sgd "
        "updater are type, learning_rate");
  CHECK(refusal(network("", R"("weight_init": "constant",)")) ==
        "'x.json': weight_init.value: missing; want number");
  CHECK(refusal(network("", R"("a\nb": 1,)")).find("'x.json': [\"a\\nb\"]") ==
        0);
}

TEST_CASE("schedules are checked") {
  const auto rate = [](const std::string& schedule) {
    return refusal(network(
        "",
        R"("updater": {"type": "sgd", "learning_rate": )" + schedule + "},"));
  };
  CHECK(rate("-1") ==
        "'x.json': updater.learning_rate: want number >= 0, or schedule "
        "object, got -1");
  CHECK(rate(R"({"schedule": "step", "initial": 1, "decay": 0.5})") ==
        "'x.json': updater.learning_rate.every: missing; want integer "
        "1..2147483647");
  CHECK(rate(R"({"schedule": "exponential", "initial": 1, "decay": 0.5,
                 "by": "batch"})") ==
        "'x.json': updater.learning_rate.by: want one of iteration, epoch, "
        "got \"batch\"");
  CHECK(rate(R"({"schedule": "polynomial", "initial": 1, "limit": 10})") ==
        "accepted");
  CHECK(rate(R"({"schedule": "map", "values": {"0": 1, "5": 0}})") ==
        "accepted");
  CHECK(rate(R"({"schedule": "map", "values": {"5": 0}})") ==
        "'x.json': updater.learning_rate.values: want object of numbers >= 0 "
        "by integer, one for 0, got {\"5\":0}");
  for (const char* name : {"05", "-1", "5.0", "x", "99999999999999999999"})
    CHECK_THAT(rate(std::string(R"({"schedule": "map", "values": {"0": 1, ")") +
                    name + R"(": 1}})"),
               Catch::Contains("want an integer from 0 on as the name"));
  CHECK(rate(R"({"schedule": "map", "values": {"0": 1, "5": -1}})") ==
        "'x.json': updater.learning_rate.values.5: want number >= 0, got -1");
}

TEST_CASE("what weights start from is written as it is read") {
  for (const char* text :
       {R"("zero")", R"("ones")", R"("identity")", R"("he_uniform")",
        R"("truncated_normal")", R"("uniform")",
        R"({"deviation":0.5,"type":"truncated_normal"})",
        R"({"limit":0.25,"type":"uniform"})",
        R"({"deviation":2.0,"mean":-1.0,"type":"log_normal"})",
        R"({"gain":2.0,"type":"orthogonal"})",
        R"({"type":"constant","value":-1.0})",
        R"({"distribution":"uniform","mode":"fan_avg","scale":3.0,)"
        R"("type":"variance_scaling"})"}) {
    const auto net = parse_network(
        R"({"input": {"shape": [2]}, "layers": [{"type": "output", "units": 2,
            "loss": "mean_squared_error", "weight_init": )" +
            std::string(text) + "}]}",
        "x");
    CHECK(dl::dump_json(to_json(net)["layers"][0]["weight_init"]) == text);
  }
}

TEST_CASE("a weight decay is written where there is one") {
  const auto written = [](const std::string& regularization) {
    const auto net = parse_network(
        network("", R"("regularization": )" + regularization + ","), "x");
    return to_json(net)["layers"][0]["regularization"];
  };
  CHECK_FALSE(written("{}").contains("weight_decay"));
  const Json both =
      written(R"({"weight_decay": 0.5, "weight_decay_bias": 0.25})");
  CHECK(both["weight_decay"] == 0.5);
  CHECK(both["weight_decay_bias"] == 0.25);
}

TEST_CASE("a momentum's schedule stays within its range") {
  const auto momentum = [](const std::string& schedule) {
    return refusal(network(
        "",
        R"("updater": {"type": "nesterov", "momentum": )" + schedule + "},"));
  };
  CHECK(momentum("1") ==
        "'x.json': updater.momentum: want number in [0, 1), or schedule "
        "object, got 1");
  CHECK(momentum(R"({"schedule": "map", "values": {"0": 0.5, "9": 0.99}})") ==
        "accepted");
  const std::string leaves = "'x.json': updater.momentum: leaves [0, 1)";
  CHECK(momentum(R"({"schedule": "map", "values": {"0": 0.5, "9": 1}})") ==
        leaves);
  CHECK(momentum(R"({"schedule": "exponential", "initial": 0.5,
                     "decay": 1.01})") == leaves);
  CHECK(momentum(R"({"schedule": "cosine", "initial": 0.5, "limit": 9,
                     "final": 1.5})") == leaves);
}

TEST_CASE("every mistake is listed") {
  const std::string said = refusal(R"({"input": {"shape": [28, 0]},
    "seed": -1, "updater": {"learning_rate": 2},
    "layers": [{"type": "dense", "units": 0}, {"type": "dropuot"}, {}]})");
  CHECK(std::count(said.begin(), said.end(), '\n') == 5);
  for (const char* place :
       {"input.shape[1]", "seed", "updater.type", "layers[0].units",
        "layers[1].type", "layers[2].type"})
    CHECK_THAT(said, Catch::Contains("'x.json': " + std::string(place) + ": "));
}

TEST_CASE("a long list of mistakes is cut") {
  std::string layers;
  for (int i = 0; i < 150; ++i)
    layers += std::string(i ? "," : "") + "{\"type\": \"no\"}";
  CHECK_THAT(layer_refusal(layers), Catch::EndsWith("'x.json': and 50 more"));
}

TEST_CASE("what a document says must hang together") {
  CHECK(layer_refusal(R"({"type": "dense", "units": 2, "name": "a"},
                         {"type": "dense", "units": 2, "name": "a"})") ==
        "'x.json': layers[1].name: 'a' is the name of layers[0] already");
  CHECK(layer_refusal(R"({"type": "dense", "units": 2, "name": "updater"})") ==
        "'x.json': layers[0].name: 'updater' is reserved; choose another name");
  CHECK(refusal(R"({"input": {"shape": [4]},
                    "layers": [{"type": "dense", "units": 2}]})") ==
        "'x.json': layers[0].type: the last layer must be an output layer, "
        "got 'dense'");
  CHECK(refusal(R"({"input": {"shape": [4]}, "layers": [
      {"type": "output", "units": 2, "loss": "mean_squared_error"},
      {"type": "output", "units": 1, "loss": "negative_log_likelihood"}]})") ==
        "'x.json': layers[0].type: only the last layer may be of type "
        "'output'\n"
        "'x.json': layers[1].units: softmax over one unit is always 1; want 2 "
        "or more");
  CHECK(refusal(R"({"input": {"shape": [4]}, "layers": [
      {"type": "output", "units": 2, "loss": "binary_cross_entropy",
       "activation": "softmax"}]})") ==
        "'x.json': layers[0].activation: 'binary_cross_entropy' needs "
        "'sigmoid', got 'softmax'");
  CHECK(refusal(R"({"input": {"shape": [4]}, "layers": [
      {"type": "conv2d", "filters": 2, "kernel": [2, 2]},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})") ==
        "'x.json': layers[0] ('conv2d1'): wants an image [height, width, "
        "channels], its input is [4]");
  CHECK(
      layer_refusal(R"({"type": "conv2d", "filters": 2, "kernel": [9, 2]})") ==
      "'x.json': layers[0] ('conv2d1'): kernel 9x2 is larger than its input "
      "8x8x3");
  CHECK(refusal(R"({"input": {"shape": [2000000, 2000000]}, "layers": [
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})") ==
        "'x.json': input.shape: an example of more than 2^40 numbers");
  CHECK_THAT(layer_refusal(R"({"type": "dense", "units": 2147483647},
                              {"type": "dense", "units": 2147483647})"),
             Catch::Contains("layers[1] ('dense2'): ") &&
                 Catch::Contains("more than 2^40 numbers"));
}

TEST_CASE("only a recurrent layer has steps that gradients go back through") {
  for (const char* reads :
       {R"({"type": "masking"})", R"({"type": "last_step"})"})
    CHECK(refusal(
              R"({"input": {"shape": [4, 3]}, "tbptt_length": 2, "layers": [)" +
              std::string(reads) +
              R"(, {"type": "output", "units": 2,
                        "loss": "mean_squared_error"}]})") ==
          "'x.json': tbptt_length: the network has no recurrent layer");
}

TEST_CASE("hostile documents are refused where they are wrong") {
  CHECK_THAT(refusal(R"({"input": {"shape": [4]},
 "seed": 1, "seed": 2})"),
             Catch::StartsWith("'x.json', line 2, column ") &&
                 Catch::Contains("duplicate key 'seed'"));
  CHECK_THAT(refusal(std::string(100000, '[')),
             Catch::Contains("nested deeper than 64"));
  CHECK_THAT(refusal(network("", "\"seed\": NaN,")),
             Catch::StartsWith("'x.json', line 1, column "));
  CHECK_THAT(refusal(network("", "\"bias_init\": 1e999,")),
             Catch::StartsWith("'x.json', line 1, column "));
  CHECK_THAT(refusal(network("") + "x"),
             Catch::StartsWith("'x.json', line 1, column "));
  CHECK_THAT(refusal(""), Catch::StartsWith("'x.json', line 1, column "));
}

TEST_CASE("the resolved configuration says everything and is a fixed point") {
  const std::string everything = network(
      R"({"type": "conv2d", "filters": 2, "kernel": [3, 3], "padding": "same",
          "dilation": [2, 1], "bias": false, "activation": "gelu",
          "weight_init": {"type": "normal", "deviation": 0.25},
          "updater": {"type": "nesterov", "momentum": 0.5}},
         {"type": "average_pool2d"}, {"type": "max_pool2d", "padding": "same"},
         {"type": "batch_norm", "gradient_normalization": "clip_elementwise"},
         {"type": "activation", "activation": {"type": "elu", "alpha": 2}},
         {"type": "flatten"}, {"type": "dropout", "rate": 0.1},
         {"type": "dense", "units": 3, "weight_init": "normal",
          "updater": {"type": "rmsprop", "decay": 0.5}, "name": "last"})",
      R"("seed": 7, "weight_init": {"type": "constant", "value": 0.1},
         "regularization": {"l2_bias": 1e-3}, "gradient_threshold": 0.3,
         "bias_updater": {"type": "adam", "learning_rate":
           {"schedule": "step", "initial": 0.1, "decay": 0.5, "every": 10,
            "by": "epoch"}},
         "updater": {"type": "adagrad", "learning_rate":
           {"schedule": "polynomial", "initial": 0.1, "limit": 100}},)");
  for (const std::string& text :
       {everything, read_file("scripts/share/examples/lenet.json"),
        read_file("scripts/share/examples/cifar10.json"),
        read_file("scripts/share/examples/digits.json"),
        read_file("scripts/share/examples/iris.json")}) {
    const auto first = parse_network(text, "first");
    const Json resolved = to_json(first);
    const auto second = parse_network(resolved.dump(), "second");
    CHECK(to_json(second) == resolved);
    const std::string readable = readable_json(first).dump();
    CHECK(to_json(parse_network(readable, "readable")) == resolved);
    REQUIRE(second.layers.size() == first.layers.size());
    for (std::size_t i = 0; i < first.layers.size(); ++i) {
      const auto& a = first.layers[i];
      const auto& b = second.layers[i];
      CHECK(a.name == b.name);
      CHECK(a.settings.json() == b.settings.json());
      if (dl::nn::find_key("layer", a.type->name, "weight_init"))
        CHECK(a.training.weight_init.value == b.training.weight_init.value);
      if (dl::nn::find_key("layer", a.type->name, "updater"))
        CHECK(a.training.updater == b.training.updater);
      if (dl::nn::find_key("layer", a.type->name, "bias_updater"))
        CHECK(a.training.bias_updater == b.training.bias_updater);
    }
  }
  const auto lenet = readable_json(
      parse_network(read_file("scripts/share/examples/lenet.json"), ""));
  CHECK(lenet["updater"]["type"] == "adagrad");  // said once
  for (const Json& layer : lenet["layers"]) CHECK(!layer.contains("updater"));
  const Json resolved = to_json(parse_network(everything, "x"));
  CHECK(resolved["layers"][0]["updater"]["momentum"] == 0.5);
  CHECK(resolved["layers"][0]["bias_updater"]["learning_rate"]["by"] ==
        "epoch");
  CHECK(resolved["layers"][2]["stride"] == Json({2, 2}));
  // Nothing that a layer may say is left unsaid, but for what it has not.
  for (const Json& layer : resolved["layers"])
    for (const auto* key :
         dl::nn::keys_of("layer", layer["type"].get<std::string>()))
      CHECK((layer.contains(std::string(key->name)) ||
             key->fallback == "(none)" || key->fallback == "(false)" ||
             key->name == "constraints" || key->name == "weight_noise"));
}

TEST_CASE("the table's ranges and defaults are well formed") {
  for (const auto& key : dl::nn::all_keys()) {
    INFO(key.object << "." << key.name);
    CHECK_FALSE(key.doc.empty());
    CHECK_FALSE(key.wanted().empty());
    const Json fallback = key.default_value();
    if (fallback.is_number() && key.kind != dl::nn::Kind::kInteger)
      CHECK(dl::nn::interval_of(key.range).contains(fallback.get<double>()));
  }
  const auto share = dl::nn::interval_of("[0, 1)");
  CHECK(share.contains(0));
  CHECK_FALSE(share.contains(1));
  CHECK_FALSE(share.contains(-1e-300));
  CHECK_FALSE(share.contains(std::numeric_limits<double>::quiet_NaN()));
  CHECK_FALSE(dl::nn::interval_of("(0, inf)").contains(0));
  CHECK(dl::nn::interval_of("").contains(-1e300));
}

TEST_CASE("networks of released versions keep their meaning for ever") {
  for (const std::string name : {"everything", "minimal", "augment"}) {
    INFO(name);
    const std::string path = "tests/golden/network/" + name;
    const Json resolved = Json::parse(read_file(path + ".resolved.json"));
    CHECK(to_json(parse_network(read_file(path + ".json"), name)) == resolved);
    CHECK(to_json(parse_network(resolved.dump(), name)) == resolved);
  }
}

}  // namespace dl::nn::config_test
