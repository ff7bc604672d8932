// Results are the same bits from run to run, in parallel with other devices,
// and wherever memory lies.

#include <thread>

#include "tests/unit/device/layer_step.h"
#include "tests/unit/device/step.h"

namespace dl::device::bits_test {

using namespace dl::device::test;

namespace {

// Some steps with changing batches.
Values train(std::int64_t skew = 0) {
  Lab lab("cpu");
  Step step(lab, skew);
  LayerStep layers(lab, skew);
  for (const std::int64_t n : {5, 5, 3, 1, 5}) {
    step.run(n);
    layers.run(n);
  }
  Values all = step.results();
  for (const double value : layers.results()) all.push_back(value);
  return all;
}

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return std::bit_cast<std::uint64_t>(x) ==
                  std::bit_cast<std::uint64_t>(y);
         });
}

}  // namespace

TEST_CASE("a step of the cpu follows the reference") {
  // A loose bound: seven activations and six updaters amplify rounding.
  Values results[2];
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    Step step(lab);
    step.run(4);
    results[name == std::string_view("reference")] = step.results();
  }
  check_close(results[0], results[1], 1e-3);
}

TEST_CASE("a step through layers of the cpu follows the reference") {
  Values results[2];
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    LayerStep step(lab);
    step.run(4);
    results[name == std::string_view("reference")] = step.results();
  }
  check_close(results[0], results[1], 1e-4);
}

TEST_CASE("a second run gives the same bits") {
  CHECK(same_bits(train(), train()));
}

TEST_CASE("results do not depend on where memory lies") {
  const Values aligned = train();
  for (const std::int64_t skew : {1, 3, 8, 13}) {
    CAPTURE(skew);
    CHECK(same_bits(aligned, train(skew)));
  }
}

TEST_CASE("devices in parallel threads give the bits of one alone") {
  const Values alone = train();
  std::vector<Values> results(4);
  std::vector<std::thread> threads;
  for (Values& result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i) result = train();
    });
  for (std::thread& thread : threads) thread.join();
  for (const Values& result : results) CHECK(same_bits(alone, result));
}

TEST_CASE("a device may move from thread to thread") {
  const Values alone = train();
  Lab lab("cpu");
  Step step(lab);
  LayerStep layers(lab);
  for (const std::int64_t n : {5, 5, 3, 1, 5})
    std::thread([&] {
      step.run(n);
      layers.run(n);
    }).join();
  Values all = step.results();
  for (const double value : layers.results()) all.push_back(value);
  CHECK(same_bits(alone, all));
}

}  // namespace dl::device::bits_test
