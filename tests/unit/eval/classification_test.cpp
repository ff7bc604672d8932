// Tests of libcore/eval/classification.h.

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "libcore/eval/evaluation.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::classification_test {
namespace {

using Catch::Detail::Approx;
const Subject kPets = {3, {"cat", "dog", "emu"}};

// Actual:  cat cat dog dog dog emu
// Guessed: cat dog dog dog cat cat
std::unique_ptr<Evaluation> pets(const std::string& kind) {
  auto made = make_evaluation(kind, kPets);
  made->add(make_tensor<float>({0.7F, 0.2F, 0.1F,  //
                                0.3F, 0.6F, 0.1F,  //
                                0.1F, 0.8F, 0.1F,  //
                                0.2F, 0.5F, 0.3F,  //
                                0.5F, 0.4F, 0.1F,  //
                                0.4F, 0.3F, 0.3F},
                               3),
            make_tensor<std::int64_t>({0, 0, 1, 1, 1, 2}), nullptr);
  return made;
}

TEST_CASE("the second of two classes is one by a threshold") {
  const auto said = [](const std::string& kind) {
    auto made = make_evaluation(kind, {2, {"ham", "spam"}});
    made->add(make_tensor<float>({0.7F, 0.3F, 0.75F, 0.25F, 0.5F, 0.5F}, 2),
              make_tensor<std::int64_t>({1, 0, 0}), nullptr);
    return made;
  };
  CHECK(said("classification")->metric("recall/spam") == 0);
  const auto lower = said("classification:threshold=0.3");
  CHECK(lower->metric("recall/spam") == 1);
  CHECK(lower->metric("precision/spam") == 0.5);
  CHECK(lower->metric("log_loss") ==
        said("classification")->metric("log_loss"));
  CHECK(said("classification:threshold=0.6")->metric("accuracy") == 2.0 / 3);
}

TEST_CASE("measures of a small confusion matrix, by hand") {
  const auto e = pets("classification:top=2");
  CHECK(e->metric("examples") == 6);
  CHECK(e->metric("accuracy") == 3.0 / 6);
  // The emu's 0.3 ties with dog, which comes first.
  CHECK(e->metric("top_2_accuracy") == 5.0 / 6);
  CHECK(e->metric("precision/cat") == 1.0 / 3);
  CHECK(e->metric("recall/cat") == 1.0 / 2);
  CHECK(e->metric("f1/cat") == 2.0 / 5);
  CHECK(e->metric("precision/dog") == 2.0 / 3);
  CHECK(e->metric("recall/1") == 2.0 / 3);        // by number as well
  CHECK(std::isnan(e->metric("precision/emu")));  // never guessed
  CHECK(e->metric("recall/emu") == 0);
  CHECK(e->metric("f1/emu") == 0);
  CHECK(e->metric("precision_macro") == Approx((1.0 / 3 + 2.0 / 3) / 2));
  CHECK(e->metric("recall_macro") == Approx((1.0 / 2 + 2.0 / 3 + 0) / 3));
  CHECK(e->metric("f1_macro") == Approx((2.0 / 5 + 2.0 / 3 + 0) / 3));
  CHECK(e->metric("precision_micro") == 0.5);
  CHECK(e->metric("f1_micro") == 0.5);
  // Gorodkin: (3*6 - (3*2 + 3*3 + 0*1)) / sqrt((36-18)(36-14))
  CHECK(e->metric("mcc") == Approx(3 / std::sqrt(18.0 * 22.0)));
  // dog: tp 2, fp 1, fn 1, tn 2
  CHECK(e->metric("mcc/dog") == Approx((4.0 - 1.0) / std::sqrt(3 * 3 * 3 * 3)));
  const double loss = -(std::log(0.7F) + std::log(0.3F) + std::log(0.8F) +
                        std::log(0.5F) + std::log(0.4F) + std::log(0.3F)) /
                      6;
  CHECK(e->metric("log_loss") == Approx(loss));
  CHECK(e->metric("true_negatives/cat") == 2);
}

TEST_CASE("a perfect and a blind classifier") {
  auto e = make_evaluation("classification", {2, {}});
  CHECK(std::isnan(e->metric("accuracy")));
  CHECK(std::isnan(e->metric("mcc")));
  e->add(make_tensor<float>({1, 0, 0, 1}, 2), make_tensor<std::uint8_t>({0, 1}),
         nullptr);
  CHECK(e->metric("accuracy") == 1);
  CHECK(e->metric("mcc") == 1);
  CHECK(e->metric("log_loss") == 0);
  auto absent = make_evaluation("classification", kPets);
  absent->add(make_tensor<float>({1, 0, 0, 0, 1, 0}, 3),
              make_tensor<std::uint8_t>({0, 1}), nullptr);
  CHECK(absent->metric("mcc_macro") == 1);  // of those that there were
  CHECK(absent->metric("f1_macro") == 1);
  auto blind = make_evaluation("classification", {2, {}});
  blind->add(make_tensor<float>({1, 0, 1, 0}, 2),
             make_tensor<std::uint8_t>({0, 1}), nullptr);
  CHECK(blind->metric("accuracy") == 0.5);
  CHECK(blind->metric("mcc") == 0);  // by convention
  CHECK(blind->metric("log_loss") == Approx(-std::log(1e-10) / 2));
}

TEST_CASE("masked examples and one-hot labels") {
  auto plain = make_evaluation("classification", kPets);
  plain->add(make_tensor<float>({0.7F, 0.2F, 0.1F}, 3),
             make_tensor<std::int32_t>({1}), nullptr);
  auto masked = make_evaluation("classification", kPets);
  const auto mask = make_tensor<float>({0, 1, 0});
  const float bad = NAN;  // an example that is left out may hold anything
  masked->add(make_tensor<float>({bad, 0, 0, 0.7F, 0.2F, 0.1F, 0, 1, 0}, 3),
              make_tensor<float>({9, 9, 9, 0, 1, 0, bad, 0, 0}, 3), &mask);
  CHECK(masked->to_json() == plain->to_json());
}

TEST_CASE("a single output is two classes") {
  auto e =
      make_evaluation("classification:threshold=0.4", {1, {"ham", "spam"}});
  e->add(make_tensor<float>({0.9F, 0.4F, 0.3F, 0.1F}, 1),
         make_tensor<std::uint8_t>({1, 0, 1, 0}), nullptr);
  CHECK(e->metric("accuracy") == 0.5);
  CHECK(e->metric("precision/spam") == 0.5);
  CHECK(e->metric("recall/ham") == 0.5);
  CHECK(e->metric("log_loss") == Approx(-(std::log(0.9F) + std::log(1 - 0.4F) +
                                          std::log(0.3F) + std::log(1 - 0.1F)) /
                                        4));
}

TEST_CASE("the screen of a classification") {
  std::ostringstream out;
  pets("classification")->print(out);
  CHECK(out.str() ==
        "classification: 3 classes, 6 examples\n"
        "\n"
        "  accuracy         0.5000\n"
        "  precision_macro  0.5000\n"
        "  recall_macro     0.3889\n"
        "  f1_macro         0.3556\n"
        "  mcc_macro        0.1111\n"
        "  precision_micro  0.5000\n"
        "  recall_micro     0.5000\n"
        "  f1_micro         0.5000\n"
        "  mcc              0.1508\n"
        "  log_loss         0.7662\n"
        "\n"
        "classes never predicted, left out of precision_macro: 1\n"
        "class  examples  precision  recall      f1     mcc\n"
        "cat           2     0.3333  0.5000  0.4000  0.0000\n"
        "dog           3     0.6667  0.6667  0.6667  0.3333\n"
        "emu           1          -  0.0000  0.0000  0.0000\n"
        "\n"
        "confusion matrix: row = actual class, column = predicted class\n"
        "     cat  dog  emu\n"
        "cat    1    1    0\n"
        "dog    1    2    0\n"
        "emu    1    0    0\n");
}

TEST_CASE("many classes are not printed as a matrix") {
  auto e = make_evaluation("classification", {101, {}});
  std::ostringstream out;
  e->print(out);
  CHECK(out.str().find("101 classes: --json lists them all") !=
        std::string::npos);
  CHECK(out.str().find("confusion matrix:") == std::string::npos);
}

TEST_CASE("what does not fit a classification is refused") {
  auto e = make_evaluation("classification", kPets);
  const auto one = make_tensor<float>({0.7F, 0.2F, 0.1F}, 3);
  const auto add = [&](const tensor::Tensor& y, const tensor::Tensor& t) {
    return error_of([&] { e->add(y, t, nullptr); });
  };
  CHECK(add(one, make_tensor<std::int64_t>({3})) ==
        "65: the label of example 0 is 3, want a class 0..2");
  CHECK(add(one, make_tensor<std::int64_t>({-1})) ==
        "65: the label of example 0 is -1, want a class 0..2");
  CHECK(add(one, make_tensor<float>({0.5F})) ==
        "65: the label of example 0 is 0.5, want a class 0..2");
  CHECK(add(one, make_tensor<float>({0, 0, 0}, 3)) ==
        "65: the label of example 0 names no class: no value is over 0");
  CHECK(add(one, make_tensor<float>({0, 126, 1}, 3)) ==
        "65: the label of example 0 is 126 for output 1, want the share of a "
        "class, 0..1; --evaluate regression takes numbers");
  CHECK(add(one, make_tensor<std::int64_t>({0, 1})) ==
        "65: labels are [2], want [1] or [1, 3]");
  CHECK(add(make_tensor<float>({1, 0}, 2), make_tensor<std::int64_t>({0})) ==
        "65: predictions are [1, 2], want [n, 3] in F32");
  e->add(one, make_tensor<std::int64_t>({0}), nullptr);
  CHECK(add(make_tensor<float>({0, INFINITY, 0}, 3),
            make_tensor<std::int64_t>({0})) ==
        "65: the model's output for example 1 is not finite");
  const auto mask = make_tensor<float>({1, 1});
  CHECK(error_of([&] { e->add(one, make_tensor<std::int64_t>({0}), &mask); }) ==
        "65: the labels' mask is [2], want [1]");
  CHECK(e->metric("examples") == 1);
}

}  // namespace
}  // namespace dl::eval::classification_test
