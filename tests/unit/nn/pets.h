// Tiny models whose predictions can be told in advance, for the tests of what
// applies models.

#ifndef DL_TESTS_UNIT_NN_PETS_H_
#define DL_TESTS_UNIT_NN_PETS_H_

#include <string>
#include <vector>

#include "libcore/nn/model/model.h"

namespace dl::nn::testing {

// A dense layer that passes its `units` inputs on to its activation.
inline Model passing(std::int64_t units, const std::string& activation,
                     const std::string& loss) {
  const std::string n = std::to_string(units);
  Model model;
  model.config = parse_network(
      R"({"seed": 1, "input": {"shape": [)" + n +
          R"(]}, "layers": [{"type": "output", "name": "out", "units": )" + n +
          R"(, "activation": ")" + activation + R"(", "loss": ")" + loss +
          R"("}]})",
      "'test.json'");
  model.parameters.assign(static_cast<std::size_t>(units * units + units), 0);
  for (std::int64_t i = 0; i < units; ++i)
    model.parameters[static_cast<std::size_t>(i * units + i)] = 1;
  return model;
}

// softmax(x): what is learnt of log p is p.
inline Model pets() {
  Model model = passing(3, "softmax", "negative_log_likelihood");
  model.data.classes = {"cat", "dog", "emu"};
  return model;
}

inline Model spam() {
  Model model = passing(1, "sigmoid", "binary_cross_entropy");
  model.data.classes = {"ham", "spam"};
  return model;
}

inline Model weather() {
  Model model = passing(2, "sigmoid", "binary_cross_entropy");
  model.data.targets = {"rain", "wind"};
  return model;
}

inline Model values() {
  Model model = passing(2, "identity", "mean_squared_error");
  model.data.targets = {"depth", "speed"};
  return model;
}

}  // namespace dl::nn::testing

#endif  // DL_TESTS_UNIT_NN_PETS_H_
