// Tests of libcore/cluster/run_dir/early_stopping.h.

#include "libcore/cluster/run_dir/early_stopping.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/error.h"

namespace dl::cluster::early_stopping_test {

TEST_CASE("patience counts epochs without improvement") {
  EarlyStopping stopping(true, 2, std::nullopt);
  CHECK(stopping.observe(0, 0.5));
  CHECK_FALSE(stopping.observe(1, 0.5));
  CHECK(stopping.verdict("accuracy").empty());
  CHECK(stopping.observe(2, 0.6));
  CHECK_FALSE(stopping.observe(3, NAN));
  CHECK(stopping.verdict("accuracy").empty());
  CHECK_FALSE(stopping.observe(4, 0.55));
  CHECK(stopping.verdict("accuracy") == "no better accuracy for 2 epochs");
  CHECK(stopping.to_json().at("best") == 0.6);
  CHECK(stopping.to_json().at("best_epoch") == 2);
}

TEST_CASE("for losses less is better") {
  EarlyStopping stopping(false, 0, 0.1);
  CHECK(stopping.observe(0, 0.5));
  CHECK_FALSE(stopping.observe(1, 0.7));
  CHECK(stopping.verdict("loss").empty());
  CHECK(stopping.observe(2, 0.1));
  CHECK(stopping.verdict("loss") == "the target for loss is reached");
}

TEST_CASE("a resumed run goes on counting") {
  EarlyStopping before(true, 2, std::nullopt);
  before.observe(0, 0.9);
  before.observe(1, 0.8);
  EarlyStopping after(true, 2, std::nullopt);
  const dl::Json json = before.to_json();
  after.restore(dl::JsonView(json, dl::Code::kData));
  CHECK_FALSE(after.observe(2, 0.85));
  CHECK_FALSE(after.verdict("accuracy").empty());
}

TEST_CASE("a target is a metric and a number") {
  CHECK(Target::parse("accuracy=0.99").metric == "accuracy");
  CHECK(Target::parse("rmse=1e-3").value == 1e-3);
  for (const char* bad : {"", "accuracy", "=1", "accuracy=", "accuracy=1x",
                          "accuracy=nan", "accuracy=inf"})
    CHECK_THROWS_AS(Target::parse(bad), dl::Error);
}

}  // namespace dl::cluster::early_stopping_test
