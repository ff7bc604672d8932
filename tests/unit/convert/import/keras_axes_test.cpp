// Axes, layouts and wrappers of Keras, and settings that nothing reads.  The
// expected numbers are worked out by hand.

#include <cmath>

#include "tests/unit/convert/import/keras_models.h"

namespace dl::convert::keras_axes_test {
namespace {

using testing::KerasModel;

constexpr double kClose = 1e-5;

bool says(const std::string& text, const std::string& what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

// gamma 1 and beta 0 of so many channels.
std::vector<KerasModel::Weight> no_change(std::int64_t channels) {
  const auto n = static_cast<std::size_t>(channels);
  return {{{channels}, std::vector<float>(n, 1)},
          {{channels}, std::vector<float>(n, 0)}};
}

TEST_CASE("GroupNormalization behind a TimeDistributed is of all steps") {
  KerasModel model("3.15.1");
  model
      .layer("TimeDistributed",
             R"({"batch_input_shape": [null, 2, 2, 1], "layer": {
                 "class_name": "Dense",
                 "config": {"units": 1, "use_bias": false}}})",
             {{{1, 1}, {1}}})
      .layer("GroupNormalization", R"({"groups": 1, "epsilon": 1e-9})",
             no_change(1));
  // The mean of 1, 3, 5, 7 is 4, the variance 5.
  const auto at = [](double x) {
    return static_cast<float>((x - 4) / std::sqrt(5.0));
  };
  CHECK(model.gap({1, 2, 2, 1}, {1, 3, 5, 7}, {1, 2, 2, 1},
                  {at(1), at(3), at(5), at(7)}) < kClose);
}

TEST_CASE("an axis may be counted from either end") {
  // A mean of 1 of the second channel alone.
  for (const char* axis : {"1", "-3", "[1]"}) {
    KerasModel model("2.15.0");
    model
        .layer("MaxPooling2D",
               R"({"batch_input_shape": [null, 2, 1, 2], "pool_size": [1, 1],
                   "data_format": "channels_first"})")
        .layer("BatchNormalization",
               R"({"epsilon": 1e-9, "axis": )" + std::string(axis) + "}",
               {{{2}, {1, 1}}, {{2}, {0, 0}}, {{2}, {0, 1}}, {{2}, {1, 4}}});
    INFO(axis);
    CHECK(model.gap({1, 2, 1, 2}, {5, 6, 7, 9}, {1, 2, 1, 2}, {5, 6, 3, 4}) <
          kClose);
  }
  KerasModel none("2.15.0");
  none.layer("BatchNormalization",
             R"({"batch_input_shape": [null, 2], "axis": 2})");
  CHECK(says(none.document(), "its axis 2 is that of the batch, or none"));
}

TEST_CASE("an axis in the middle, or of time") {
  const float a = 1 / (1 + std::exp(2.0F)), b = 1 - a;
  KerasModel time("3.15.1");
  time.layer("Softmax", R"({"batch_input_shape": [null, 2, 2], "axis": 1})");
  CHECK(time.gap({1, 2, 2}, {0, 2, 2, 0}, {1, 2, 2}, {a, b, b, a}) < kClose);
  KerasModel middle("3.15.1");
  middle.layer("Softmax",
               R"({"batch_input_shape": [null, 1, 2, 2], "axis": -2})");
  CHECK(middle.gap({1, 1, 2, 2}, {0, 2, 2, 0}, {1, 1, 2, 2}, {a, b, b, a}) <
        kClose);
}

TEST_CASE("a layer norm of several axes") {
  const auto gap = [](const std::string& axes, const tensor::Shape& of,
                      const std::vector<float>& gamma,
                      const std::vector<float>& y) {
    KerasModel model("3.15.1");
    model.layer("LayerNormalization",
                R"({"batch_input_shape": [null, 2, 2, 2], "epsilon": 1e-12,
                    "axis": )" +
                    axes + "}",
                {{of, gamma}, {of, {0, 0, 0, 1}}});
    return model.gap({1, 2, 2, 2}, {0, 1, 5, 6, 2, 3, 7, 8}, {1, 2, 2, 2}, y);
  };
  const float a = 1.34164079F, b = a / 3;  // of 0, 1, 2, 3
  CHECK(gap("[1, 3]", {2, 2}, {1, 2, 3, 4},
            {-a, -2 * b, -a, -2 * b, 3 * b, 4 * a + 1, 3 * b, 4 * a + 1}) <
        kClose);
  CHECK(gap("[-1, 1]", {2, 2}, {1, 2, 3, 4},
            {-a, -2 * b, -a, -2 * b, 3 * b, 4 * a + 1, 3 * b, 4 * a + 1}) <
        kClose);
  KerasModel all("3.15.1");
  all.layer("LayerNormalization",
            R"({"batch_input_shape": [null, 2, 2], "epsilon": 1e-12,
                "axis": [1, 2]})",
            {{{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {0, 0, 0, 1}}});
  CHECK(all.gap({1, 2, 2}, {0, 1, 2, 3}, {1, 2, 2},
                {-a, -2 * b, 3 * b, 4 * a + 1}) < kClose);
  KerasModel twice("3.15.1");
  twice.layer("LayerNormalization",
              R"({"batch_input_shape": [null, 2, 2], "axis": [1, -2]})");
  CHECK(says(twice.document(), "it normalizes an axis twice"));
}

TEST_CASE("axes that Keras counts in a way of its own") {
  // Shared along the axis before the one that is said, counted from the end.
  KerasModel slopes("3.15.1");
  slopes.layer("PReLU",
               R"({"batch_input_shape": [null, 2, 2], "shared_axes": [-1]})",
               {{{1, 2}, {0.5, 0.25}}});
  CHECK(slopes.gap({1, 2, 2}, {-1, -4, -2, 8}, {1, 2, 2}, {-0.5, -1, -1, 8}) <
        kClose);
  KerasModel squares("3.15.1");
  squares.layer("RMSNormalization",
                R"({"batch_input_shape": [null, 2, 2], "axis": 1})",
                {{{2}, {1, 2}}});
  CHECK(says(squares.document(), "the last one would be needed"));
}

TEST_CASE("axes within a TimeDistributed are those of a step") {
  // Its input is no sequence: all steps at once.
  KerasModel model("2.15.0");
  model
      .layer("Reshape", R"({"batch_input_shape": [null, 4],
                             "target_shape": [2, 2]})")
      .layer("TimeDistributed",
             R"({"layer": {"class_name": "BatchNormalization",
                           "config": {"axis": 1, "epsilon": 1e-9}}})",
             {{{2}, {1, 1}}, {{2}, {0, 0}}, {{2}, {0, 1}}, {{2}, {1, 4}}});
  CHECK(model.gap({1, 4}, {5, 7, 6, 9}, {1, 2, 2}, {5, 3, 6, 4}) < kClose);
}

TEST_CASE("channels come first within a step alone") {
  // Two steps of two channels of one row: what moves the input moves time.
  KerasModel model("3.15.1");
  model.layer("TimeDistributed",
              R"({"batch_input_shape": [null, 2, 2, 1, 2], "layer": {
                  "class_name": "Conv2D", "config": {"filters": 1,
                  "kernel_size": [1, 1], "use_bias": false,
                  "data_format": "channels_first"}}})",
              {{{1, 1, 2, 1}, {1, 10}}});
  CHECK(model.gap({1, 2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 1, 1, 2},
                  {31, 42, 75, 86}) == 0);
}

TEST_CASE("layers of series within a TimeDistributed") {
  const auto gap = [](const std::string& inner, const tensor::Shape& shape,
                      const std::vector<float>& y,
                      const std::vector<KerasModel::Weight>& weights = {}) {
    KerasModel model("3.15.1");
    model.layer(
        "TimeDistributed",
        R"({"batch_input_shape": [null, 2, 3, 1], "layer": )" + inner + "}",
        weights);
    return model.gap({1, 2, 3, 1}, {1, 2, 3, -4, -5, -6}, shape, y);
  };
  CHECK(gap(R"({"class_name": "Conv1D", "config": {"filters": 1,
                "kernel_size": [2], "use_bias": false}})",
            {1, 2, 2, 1}, {21, 32, -54, -65}, {{{2, 1, 1}, {1, 10}}}) == 0);
  CHECK(gap(R"({"class_name": "MaxPooling1D", "config": {"pool_size": [2],
                "strides": [1], "padding": "same"}})",
            {1, 2, 3, 1}, {2, 3, 3, -4, -5, -6}) == 0);
  CHECK(gap(R"({"class_name": "GlobalAveragePooling1D", "config": {}})",
            {1, 2, 1}, {2, -5}) < kClose);
  CHECK(gap(R"({"class_name": "ZeroPadding1D", "config": {"padding": [1, 0]}})",
            {1, 2, 4, 1}, {0, 1, 2, 3, 0, -4, -5, -6}) == 0);
}

TEST_CASE("a TimeDistributed of a recurrent layer goes through each step") {
  // A SimpleRNN that sums up, of two steps of three.
  KerasModel model("3.15.1");
  model.layer("TimeDistributed",
              R"({"batch_input_shape": [null, 2, 3, 1], "layer": {
                  "class_name": "SimpleRNN",
                  "config": {"units": 1, "activation": "linear"}}})",
              {{{1, 1}, {1}}, {{1, 1}, {1}}, {{1}, {0.5}}});
  CHECK(model.gap({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}, {1, 2, 1}, {7.5, 16.5}) <
        kClose);
  CHECK(says(model.document(), "\"shares\""));
  KerasModel many("3.15.1");
  many.layer("TimeDistributed",
             R"({"batch_input_shape": [null, 65, 3, 1], "layer": {
                 "class_name": "SimpleRNN", "config": {"units": 1}}})",
             {{{1, 1}, {1}}, {{1, 1}, {1}}, {{1}, {0.5}}});
  CHECK(says(many.document(), "it takes each of 65 steps by itself; up to 64"));
}

TEST_CASE("a TimeDistributed of what is no sequence here") {
  KerasModel model("3.15.1");
  model
      .layer("Reshape", R"({"batch_input_shape": [null, 4],
                            "target_shape": [2, 2, 1]})")
      .layer("TimeDistributed",
             R"({"layer": {"class_name": "Conv1D", "config": {"filters": 1,
                 "kernel_size": [2], "use_bias": false}}})",
             {{{2, 1, 1}, {1, 10}}});
  CHECK(model.gap({1, 4}, {1, 2, 3, 4}, {1, 2, 1, 1}, {21, 43}) == 0);
}

TEST_CASE("zeros before a maximum of negative numbers count") {
  KerasModel model("3.15.1");
  model
      .layer("ZeroPadding1D",
             R"({"batch_input_shape": [null, 3, 1], "padding": [0, 3]})")
      .layer("MaxPooling1D", R"({"pool_size": [2], "strides": [2]})");
  CHECK(model.gap({1, 3, 1}, {-1, -2, -3}, {1, 3, 1}, {-1, 0, 0}) == 0);
  // Zeros of "same" do not count, nor do they in a mean.
  KerasModel same("3.15.1");
  same.layer("MaxPooling1D",
             R"({"batch_input_shape": [null, 3, 1], "pool_size": [3],
                 "strides": [1], "padding": "same"})")
      .layer("AveragePooling1D",
             R"({"pool_size": [2], "strides": [1], "padding": "same"})");
  CHECK(same.gap({1, 3, 1}, {-1, -2, -5}, {1, 3, 1}, {-1, -1.5, -2}) < kClose);
}

TEST_CASE("zeros beside a series whose channels come first") {
  KerasModel model("3.15.1");
  model.layer("ZeroPadding1D",
              R"({"batch_input_shape": [null, 2, 2], "padding": [1, 0],
                  "data_format": "channels_first"})");
  CHECK(model.gap({1, 2, 2}, {1, 2, 3, 4}, {1, 2, 3}, {0, 1, 2, 0, 3, 4}) == 0);
}

TEST_CASE("both directions of a Bidirectional are of one kind") {
  const auto document = [](const std::string& backward) {
    KerasModel model("3.15.1");
    model.layer("Bidirectional",
                R"({"batch_input_shape": [null, 2, 1], "merge_mode": "sum",
                    "layer": {"class_name": "SimpleRNN", "config": {"units": 1}},
                    "backward_layer": {"class_name": "SimpleRNN",
                    "config": {"units": 1, )" +
                    backward + "}}}",
                {{{1, 1}, {1}},
                 {{1, 1}, {1}},
                 {{1}, {1}},
                 {{1, 1}, {1}},
                 {{1, 1}, {1}},
                 {{1}, {1}}});
    return model.document();
  };
  CHECK(says(document(R"("go_backwards": true)"), "simple_rnn"));
  CHECK(says(document(R"("go_backwards": true, "activation": "relu")"),
             "its two directions differ"));
  CHECK(
      says(document(R"("go_backwards": false)"), "its two directions differ"));
}

TEST_CASE("a setting that nothing reads is refused if it says something") {
  const auto document = [](const std::string& more) {
    KerasModel model("4.0.0");
    model.layer("Dense",
                R"({"batch_input_shape": [null, 1], "units": 1)" + more + "}",
                {{{1, 1}, {1}}, {{1}, {0}}});
    return model.document();
  };
  for (const char* nothing :
       {"", R"(, "wobble": null)", R"(, "wobble": false)", R"(, "wobble": 0)",
        R"(, "wobble": [])", R"(, "gamma_initializer": "ones")"})
    CHECK(says(document(nothing), "\"units\":1"));
  for (const char* something : {"0.5", "true", R"("on")", "[1]"})
    CHECK(says(document(R"(, "wobble": )" + std::string(something)),
               std::string("layer 'l0' (Dense): its 'wobble' is ") + something +
                   ", a setting that is not known"));
}

std::string call(const std::string& layer, const std::string& second) {
  const std::string first =
      R"({"class_name": "__keras_tensor__", "config": {"keras_history": [)";
  return R"([{"args": [)" + first + "\"" + layer + R"(", 0, 0]}})" + second +
         R"(], "kwargs": {}}])";
}

// x of one number, and what an operator of Keras 3 makes of it.
double computed(const std::string& class_name, const std::string& second,
                float x, double y) {
  KerasModel model("3.15.1");
  model.graph(
      R"([{"class_name": "InputLayer", "name": "x", "config": {"name": "x",
           "batch_shape": [null, 1]}, "inbound_nodes": []},
          {"class_name": ")" +
          class_name +
          R"(", "name": "y", "module": "keras.src.ops.numpy",
          "config": {"name": "y"}, "inbound_nodes": )" +
          call("x", second) + "}]",
      "x", "y");
  for (const char* name : {"x", "y"}) model.add_weights(name, {});
  return model.gap({1, 1}, {x}, {1, 1}, {static_cast<float>(y)});
}

TEST_CASE("operators between values and numbers") {
  const std::string itself =
      R"(, {"class_name": "__keras_tensor__", "config": {"keras_history":
         ["x", 0, 0]}})";
  CHECK(computed("Negative", "", 3, -3) == 0);
  CHECK(computed("Absolute", "", -3, 3) == 0);
  CHECK(computed("Square", "", -3, 9) == 0);
  CHECK(computed("Power", ", 5", -2, -32) == 0);
  CHECK(computed("Maximum", ", 1.5", -2, 1.5) == 0);
  CHECK(computed("Maximum", ", -1e9", 0.3, 0.3) == 0);
  CHECK(computed("Maximum", ", 0.3", -1e9, 0.3) == 0);
  CHECK(computed("Minimum", ", 1e9", 0.3, 0.3) == 0);
  CHECK(computed("Minimum", ", 1.5", -2, -2) == 0);
  CHECK(computed("TrueDivide", itself, -3, 1) < kClose);
  CHECK(computed("Reciprocal", "", 8, 0.125) < kClose);
  CHECK(says(error_of([&] { computed("Power", ", 0.5", 4, 2); }),
             "it is no power of a whole number from 1 to 16"));
}

TEST_CASE("a function of an HDF5 file of Keras 3 forgets masks") {
  KerasModel model("3.15.1");
  model.graph(
      R"([{"class_name": "InputLayer", "name": "x", "config": {"name": "x",
           "batch_shape": [null, 2, 1]}, "inbound_nodes": []},
          {"class_name": "Masking", "name": "m", "config": {"name": "m",
           "trainable": true}, "inbound_nodes": )" +
          call("x", "") + R"(},
          {"class_name": "Multiply", "name": "y", "config": {"name": "y"},
           "inbound_nodes": )" +
          call("m", ", 2.0") + R"(},
          {"class_name": "SimpleRNN", "name": "r", "config": {"name": "r",
           "trainable": true, "units": 1}, "inbound_nodes": )" +
          call("y", "") + "}]",
      "x", "r");
  for (const char* name : {"x", "m", "y"}) model.add_weights(name, {});
  model.add_weights("r", {{{1, 1}, {0}}, {{1, 1}, {0}}, {{1}, {0}}});
  CHECK(says(model.document(), "y.unmasked"));
}

}  // namespace
}  // namespace dl::convert::keras_axes_test
