// Prints what is made from tables: --layers, the middle of man/dl-layers.5.scd,
// --augment, the steps of man/dl-network.5.scd, --schema, --keras, the classes
// of man/dl-import.1.scd, --recipe, the middle of man/dl-recipe.5.scd, or
// --recipe-schema.  scripts/generate puts pages into its place.

#include <iostream>
#include <string_view>

#include "libcore/convert/import/keras/classes.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/layers_page.h"
#include "libcore/vectorize/recipe/recipe.h"

int main(int count, char** arguments) {
  const std::string_view what = count == 2 ? arguments[1] : "";
  if (what == "--layers")
    std::cout << dl::nn::layers_page();
  else if (what == "--augment")
    std::cout << dl::nn::augment_page();
  else if (what == "--schema")
    std::cout << dl::nn::network_schema().dump(2) << "\n";
  else if (what == "--keras")
    std::cout << dl::convert::keras::classes_page();
  else if (what == "--recipe")
    std::cout << dl::vectorize::recipe_page();
  else if (what == "--recipe-schema")
    std::cout << dl::vectorize::recipe_schema().dump(2) << "\n";
  else
    return 64;
  return 0;
}
