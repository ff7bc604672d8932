// Test that dl-import(1) lists every class of Keras.

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "libcore/convert/import/keras/classes.h"

namespace dl::convert::keras_classes_test {
namespace {

TEST_CASE("dl-import(1) has every class of Keras that is known") {
  std::ifstream file(DL_SOURCE_DIR "/man/dl-import.1.scd");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  INFO("scripts/generate puts it right");
  CHECK((page.find("; from here, scripts/generate writes\n\n" +
                   keras::classes_page() + "\n; to here\n") !=
         std::string::npos));
}

}  // namespace
}  // namespace dl::convert::keras_classes_test
