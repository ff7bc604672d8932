// The differences of versions of Keras: a case for each change in dl-import(1),
// VERSIONS OF KERAS.  The expected numbers are worked out by hand.

#include <cmath>

#include "tests/unit/convert/import/keras_models.h"

namespace dl::convert::keras_versions_test {
namespace {

using testing::KerasModel;

constexpr double kClose = 1e-5;

bool says(const std::string& text, const std::string& what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

KerasModel batch_norm(const std::string& version, const std::string& backend,
                      const std::string& epsilon) {
  KerasModel model(version, backend);
  model.layer("BatchNormalization",
              R"({"batch_input_shape": [null, 1])" + epsilon + "}",
              {{{1}, {1}}, {{1}, {0}}, {{1}, {1}}, {{1}, {4}}});
  return model;
}

TEST_CASE("Keras 1: layers that say no layout have that of the others") {
  // A convolution that does nothing says it, or not.
  const auto padded = [](const std::string& version,
                         const std::string& ordering) {
    KerasModel model(version, "tensorflow");
    model.layer("ZeroPadding2D",
                R"({"batch_input_shape": [null, 2, 1, 2], "padding": [0, 1]})");
    if (!ordering.empty())
      model.layer("MaxPooling2D", R"({"pool_size": [1, 1], "strides": [1, 1],
                  "dim_ordering": ")" +
                                      ordering + "\"}");
    model.layer("Flatten", "{}");
    return model;
  };
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> first = {0, 1, 2, 0, 0, 3, 4, 0};
  const std::vector<float> last = {0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0};
  const auto gap = [&](KerasModel model, const std::vector<float>& y) {
    return model.gap({1, 2, 1, 2}, x, {1, std::ssize(y)}, y);
  };
  CHECK(gap(padded("1.2.2", "th"), first) == 0);
  CHECK(gap(padded("1.2.2", "tf"), last) == 0);
  CHECK(gap(padded("1.0.8", ""), first) == 0);
  CHECK(gap(padded("1.1.0", ""), last) == 0);
  KerasModel both = padded("1.2.2", "th");
  both.layer("UpSampling2D", R"({"dim_ordering": "tf"})");
  CHECK(says(both.document(), "other layers have theirs first and last"));
}

TEST_CASE("Keras 1 and 2: series have their channels last, on Theano too") {
  for (const auto& [backend, y] :
       {std::pair("theano", std::vector<float>{12, 23}),
        std::pair("tensorflow", std::vector<float>{21, 32})}) {
    KerasModel model("2.1.3", backend);
    model.layer("Conv1D",
                R"({"batch_input_shape": [null, 3, 1], "filters": 1,
                    "kernel_size": [2], "use_bias": false})",
                {{{2, 1, 1}, {1, 10}}});
    INFO(backend);
    CHECK(model.gap({1, 3, 1}, {1, 2, 3}, {1, 2, 1}, y) == 0);
  }
}

TEST_CASE("Keras 1.0: kernels of series lie the other way round") {
  for (const auto& [version, shape] :
       {std::pair("1.0.8", tensor::Shape{2, 1, 2, 1}),
        std::pair("1.1.0", tensor::Shape{2, 1, 1, 2})}) {
    KerasModel model(version, "tensorflow");
    model.layer("Convolution1D",
                R"({"batch_input_shape": [null, 2, 1], "nb_filter": 2,
                    "filter_length": 2, "bias": false})",
                {{shape, {1, 10, 100, 1000}}});
    INFO(version);
    const std::vector<float> y = std::string(version) == "1.0.8"
                                     ? std::vector<float>{21, 2100}
                                     : std::vector<float>{201, 2010};
    CHECK(model.gap({1, 2, 1}, {1, 2}, {1, 1, 2}, y) == 0);
  }
}

TEST_CASE("Keras 1.0: batch normalization keeps deviations") {
  const auto gap = [](KerasModel model, double y) {
    return model.gap({1, 1}, {11}, {1, 1}, {static_cast<float>(y)});
  };
  const std::string half = R"(, "epsilon": 0.5)";
  CHECK(gap(batch_norm("1.0.5", "theano", half), 10 / 4.5) < kClose);
  CHECK(says(batch_norm("1.0.6", "", half).document(), "Keras 1.0.6"));
  CHECK(gap(batch_norm("1.0.7", "theano", half), 10 / 2.5) < kClose);
  CHECK(gap(batch_norm("1.0.7", "tensorflow", half), 10 / std::sqrt(4.5)) <
        kClose);
  CHECK(gap(batch_norm("1.0.8", "theano", half), 10 / std::sqrt(4.5)) < kClose);
}

TEST_CASE("the usual epsilon of batch normalization grew") {
  for (const auto& [version, epsilon] :
       {std::pair("1.0.7", "1e-06"), std::pair("1.0.8", "1e-05"),
        std::pair("1.1.2", "1e-05"), std::pair("1.2.0", "0.001"),
        std::pair("2.15.0", "0.001"), std::pair("3.15.1", "0.001")})
    CHECK(says(batch_norm(version, "tensorflow", "").document(),
               std::string("\"epsilon\":") + epsilon));
}

TEST_CASE("hard_sigmoid is steeper before Keras 3") {
  for (const auto& [version, y] :
       {std::pair("2.15.0", 0.7F), std::pair("3.0.0", 4.0F / 6)}) {
    KerasModel model(version);
    model.layer("Activation", R"({"batch_input_shape": [null, 1],
                                  "activation": "hard_sigmoid"})");
    CHECK(model.gap({1, 1}, {1}, {1, 1}, {y}) < kClose);
  }
}

double clipped(double x) { return std::clamp(x, 0.0, 1.0); }

TEST_CASE("gates have the hard_sigmoid of their version") {
  for (const auto& [version, slope] :
       {std::pair("2.15.0", 0.2), std::pair("3.0.0", 1.0 / 6)}) {
    KerasModel model(version);
    model.layer("LSTM",
                R"({"batch_input_shape": [null, 1, 1], "units": 1,
                    "recurrent_activation": "hard_sigmoid"})",
                {{{1, 4}, {0.5, 9, 2, 1}},
                 {{1, 4}, {1, 1, 1, 1}},
                 {{4}, {0.5, 0, 0, -0.5}}});
    const double in = clipped(slope * 1 + 0.5),
                 out = clipped(slope * 0.5 + 0.5);
    const double y = out * std::tanh(in * std::tanh(2));
    CHECK(model.gap({1, 1, 1}, {1}, {1, 1}, {static_cast<float>(y)}) < kClose);
  }
  KerasModel gru("3.0.0");
  gru.layer("GRU",
            R"({"batch_input_shape": [null, 1, 1], "units": 1,
                "recurrent_activation": "hard_sigmoid"})",
            {{{1, 3}, {0.5, 1, 2}},
             {{1, 3}, {1, 1, 1}},
             {{2, 3}, {0.25, 0, 0, 0.25, 0, 0.5}}});
  const double keep = clipped(1.0 / 6 + 0.5), reset = clipped(1.0 / 6 + 0.5);
  const double y = (1 - keep) * std::tanh(2 + reset * 0.5);
  CHECK(gru.gap({1, 1, 1}, {1}, {1, 1}, {static_cast<float>(y)}) < kClose);
}

TEST_CASE("recurrent layers that say less are those of their version") {
  const auto document = [](const char* version, const char* class_name,
                           std::int64_t gates, bool two_biases) {
    KerasModel model(version);
    const std::int64_t n = gates;
    const auto of = [](tensor::Shape shape) {
      return KerasModel::Weight{
          shape,
          std::vector<float>(static_cast<std::size_t>(shape.elements()))};
    };
    model.layer(class_name,
                R"({"batch_input_shape": [null, 2, 1], "units": 1})",
                {of({1, n}), of({1, n}),
                 of(two_biases ? tensor::Shape{2, n} : tensor::Shape{n})});
    return model.document();
  };
  const std::string hard = R"("gate_activation":"hard_sigmoid")";
  CHECK(says(document("2.2.4", "LSTM", 4, false), hard));
  CHECK(says(document("2.3.0", "LSTM", 4, false),
             R"("gate_activation":"sigmoid")"));
  CHECK(says(document("2.15.0", "GRU", 3, false), R"("reset_before":true)"));
  CHECK(says(document("3.0.0", "GRU", 3, true), R"("reset_before":false)"));
}

// A network in which this class joins a masked value and one without.
std::string joined(const char* version, const char* class_name) {
  KerasModel model(version);
  const auto layer = [](const std::string& type, const std::string& name,
                        const std::string& config, const std::string& from) {
    return R"({"class_name": ")" + type + R"(", "name": ")" + name +
           R"(", "config": {"name": ")" + name + R"(", "trainable": true)" +
           config + R"(}, "inbound_nodes": [)" + from + "]}";
  };
  model.graph(
      "[" +
          layer("InputLayer", "x", R"(, "batch_input_shape": [null, 3, 2])",
                "") +
          "," + layer("Masking", "m", "", R"([["x", 0, 0, {}]])") + "," +
          layer(class_name, "j", "", R"([["m", 0, 0, {}], ["x", 0, 0, {}]])") +
          "," +
          layer("SimpleRNN", "r", R"(, "units": 1)", R"([["j", 0, 0, {}]])") +
          "]",
      "x", "r");
  for (const char* name : {"x", "m", "j"}) model.add_weights(name, {});
  const std::int64_t width = std::string(class_name) == "Concatenate" ? 4 : 2;
  model.add_weights(
      "r", {{{width, 1}, std::vector<float>(static_cast<std::size_t>(width))},
            {{1, 1}, {0}},
            {{1}, {0}}});
  return model.document();
}

TEST_CASE("a mask of one of several inputs is none since Keras 3.4") {
  for (const char* class_name : {"Add", "Average", "Concatenate"}) {
    CHECK_FALSE(says(joined("2.15.0", class_name), "unmasked"));
    CHECK_FALSE(says(joined("3.3.3", class_name), "unmasked"));
    CHECK(says(joined("3.4.0", class_name), "j.unmasked"));
  }
  // These count, since then, only where their mask says so.
  for (const char* class_name : {"Multiply", "Maximum", "Minimum"}) {
    CHECK_FALSE(says(joined("3.3.3", class_name), "unmasked"));
    CHECK(says(joined("3.4.0", class_name), "some of its inputs have a mask"));
  }
}

TEST_CASE("a Rescaling forgets a mask before Keras 3") {
  for (const auto& [version, forgets] :
       {std::pair("2.15.0", true), std::pair("3.0.0", false)}) {
    KerasModel model(version);
    model.layer("Masking", R"({"batch_input_shape": [null, 3, 1]})")
        .layer("Rescaling", R"({"scale": 2})")
        .layer("SimpleRNN", R"({"units": 1})",
               {{{1, 1}, {0}}, {{1, 1}, {0}}, {{1}, {0}}});
    CHECK(says(model.document(), "l1.unmasked") == forgets);
  }
}

TEST_CASE("a Softmax heeds a mask since Keras 3") {
  const auto document = [](const char* version) {
    KerasModel model(version);
    model.layer("Masking", R"({"batch_input_shape": [null, 3, 2]})")
        .layer("Softmax", "{}")
        .layer("SimpleRNN", R"({"units": 1})",
               {{{2, 1}, {0, 0}}, {{1, 1}, {0}}, {{1}, {0}}});
    return model.document();
  };
  CHECK(says(document("2.15.0"), "softmax"));
  CHECK(says(document("3.0.0"), "its input has a mask"));
}

TEST_CASE("padding of a Bidirectional is 0 in tf.keras and since") {
  const auto document = [](const char* version) {
    KerasModel model(version);
    model.layer("Masking", R"({"batch_input_shape": [null, 2, 1]})")
        .layer("Bidirectional",
               R"({"merge_mode": "concat", "layer": {"class_name": "SimpleRNN",
                   "config": {"units": 1, "return_sequences": true}}})",
               {{{1, 1}, {1}},
                {{1, 1}, {1}},
                {{1}, {1}},
                {{1, 1}, {1}},
                {{1, 1}, {1}},
                {{1}, {1}}})
        .layer("Flatten", "{}");
    return model.document();
  };
  CHECK(says(document("2.3.1"), "repeats what came before"));
  CHECK(says(document("2.3.0-tf"), "flatten"));
  CHECK(says(document("2.4.0"), "flatten"));
}

TEST_CASE("a bilinear UpSampling2D is another one before tf.keras") {
  const auto document = [](const char* version) {
    KerasModel model(version);
    model.layer("UpSampling2D", R"({"batch_input_shape": [null, 2, 2, 1],
        "size": [2, 2], "interpolation": "bilinear",
        "data_format": "channels_last"})");
    return model.document();
  };
  CHECK(says(document("2.3.1"), "by the corners of pixels"));
  CHECK(says(document("2.2.4-tf"), "bilinear"));
  CHECK(says(document("3.15.1"), "bilinear"));
}

TEST_CASE("Theano: padding of means, and kernels of single channels") {
  const auto pool = [](const char* version) {
    KerasModel model(version, "theano");
    model.layer("AveragePooling2D",
                R"({"batch_input_shape": [null, 1, 3, 3], "pool_size": [3, 3],
                    "strides": [1, 1], "padding": "same",
                    "data_format": "channels_first"})");
    return model.document();
  };
  CHECK(says(pool("2.1.3"), "counts its zeros"));
  CHECK(says(pool("2.2.4"), "average_pool2d"));
  KerasModel model("2.2.4", "theano");
  model.layer("DepthwiseConv2D",
              R"({"batch_input_shape": [null, 1, 1, 2], "kernel_size": [1, 2],
                  "use_bias": false, "data_format": "channels_first"})",
              {{{1, 2, 1, 1}, {1, 10}}});
  CHECK(model.gap({1, 1, 1, 2}, {1, 2}, {1, 1, 1, 1}, {21}) == 0);
}

}  // namespace
}  // namespace dl::convert::keras_versions_test
