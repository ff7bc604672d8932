// Our side of scripts/peers pictures speed: pictures below a folder as arrays,
// as dl-preprocess images makes them before it writes a stream.
//
// peer-decode FOLDER WIDTHxHEIGHT

#include <iostream>

#include "libcore/vectorize/recipe/images.h"
#include "libcore/vectorize/recipe/recipe_reader.h"

int main(int count, char** arguments) {
  using namespace dl::vectorize;
  if (count != 3) return 64;
  ImageOptions images;
  images.size = arguments[2];
  images.fit = "stretch";
  images.labels = false;
  RecipeOptions options;
  options.threads = 1;
  BadRecords bad(0);
  const auto reader =
      open_recipe(recipe_of(images), {{arguments[1]}}, options, bad);
  for (dl::data::DataSet set; reader->read(set);) continue;
  std::cout << reader->examples() << "\n";
}
