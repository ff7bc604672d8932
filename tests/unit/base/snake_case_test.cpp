// Tests of libcore/base/snake_case.h.

#include "libcore/base/snake_case.h"

#include <catch2/catch.hpp>

namespace {

using dl::snake_case;

TEST_CASE("a word begins with a capital that has a small letter beside it") {
  CHECK(snake_case("MaxPooling2D") == "max_pooling2d");
  CHECK(snake_case("Conv2DTranspose") == "conv2d_transpose");
  CHECK(snake_case("SimpleRNN") == "simple_rnn");
  CHECK(snake_case("LSTM") == "lstm");
  CHECK(snake_case("PReLU") == "p_re_lu");
  CHECK(snake_case("") == "");
}

}  // namespace
