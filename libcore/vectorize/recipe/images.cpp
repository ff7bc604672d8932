#include "libcore/vectorize/recipe/images.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// "224x224" as [height, width].
Json size_of(const std::string& text) {
  const std::vector<std::string> sides = split(text, 'x');
  std::int64_t width = 0, height = 0;
  if (sides.size() != 2 || !parse_integer(sides[0], width) ||
      !parse_integer(sides[1], height))
    bad_usage("--size: want WIDTHxHEIGHT, as 224x224, got " + in_quotes(text));
  return {height, width};
}

// The form that pictures are stored in, "" for the default.  Of smart it is
// JPEG from so many pixels on: the tables of a file alone take some 600 bytes.
std::string store_of(const ImageOptions& given) {
  constexpr double kLeastPixels = 64 * 64;
  if (given.store != "smart") return given.store;
  const Json size = size_of(given.size);
  const bool is_large =
      size[0].get<double>() * size[1].get<double>() >= kLeastPixels;
  return is_large && given.color != "bgr" ? "jpeg" : "u8";
}

class Options {
 public:
  Options(const char* type, Json& object)
      : type_(*find_vectorizer(type)), object_(object) {
    object_["type"] = type;
  }
  void set(const char* name, const Json& value, const std::string& option) {
    const auto key = std::ranges::find(type_.keys, name, &RecipeKey::name);
    require(key != type_.keys.end(), "an option without a key");
    if (const std::string what = key->problem(value); !what.empty())
      bad_usage("--" + option + ": " + what);
    object_[name] = value;
  }

 private:
  const VectorizerType& type_;
  Json& object_;
};

// The suffixes that pictures have, as columns of WebDataset: "jpg;png".
std::string columns_of_pictures() {
  std::string columns;
  for (const std::string_view suffix : find_vectorizer("image")->suffixes)
    columns += (columns.empty() ? "" : ";") + std::string(suffix.substr(1));
  return columns;
}

void set_category(const ImageOptions& given, Options& category) {
  const bool matched = !given.label_pattern.empty();
  std::string from = given.label_from;
  if (from.empty())
    from = given.webdataset ? "cls"
           : given.table    ? "label"
           : matched        ? "path"
                            : "folder";
  category.set("from", from, "label-from");
  if (matched) category.set("pattern", given.label_pattern, "label-pattern");
  if (!given.classes.empty())
    category.set("classes", ClassLabels(given.classes).names(), "classes");
}

}  // namespace

Recipe recipe_of(const ImageOptions& given) {
  if (given.size.empty()) bad_usage("images wants --size WIDTHxHEIGHT");
  Json tensors = Json::object();
  Options image("image", tensors["features"]);
  if (given.webdataset) image.set("from", columns_of_pictures(), "from");
  image.set("size", size_of(given.size), "size");
  if (!given.fit.empty()) image.set("fit", given.fit, "fit");
  if (!given.interpolation.empty())
    image.set("interpolation", given.interpolation, "interpolation");
  if (!given.color.empty()) image.set("color", given.color, "color");
  if (given.shorter != 0 && !given.fit.empty() && given.fit != "crop")
    bad_usage("--shorter is for --fit crop");
  if (given.shorter != 0) image.set("shorter", given.shorter, "shorter");
  image.set("max_pixels", given.max_pixels, "max-pixels");
  if (given.scaled_decoding)
    image.set("scaled_decoding", true, "scaled-decoding");
  const std::string store = store_of(given);
  if (!store.empty()) image.set("store", store, "store");
  if (store == "jpeg") image.set("quality", given.quality, "quality");
  if (given.labels) {
    if (given.regression) {
      Options number("number", tensors["labels"]);
      number.set(
          "from",
          split_list(given.label_from.empty() ? "label" : given.label_from,
                     "--label-from"),
          "label-from");
    } else {
      Options category("category", tensors["labels"]);
      set_category(given, category);
    }
  }
  Options id("id", tensors["id"]);
  id.set("from", given.webdataset ? "key" : "path", "id");
  if (given.id_bytes != 0) id.set("bytes", given.id_bytes, "id-bytes");
  const char* source = given.webdataset ? "webdataset" : "files";
  const Json json = {{"source", {{"type", source}}}, {"tensors", tensors}};
  Recipe recipe = Recipe::from_json(json, "the recipe", Code::kBug);
  recipe.from = RecipeFrom::kOptions;
  for (RecipeTensor& tensor : recipe.tensors)
    if (tensor.name == "labels") tensor.parts[0].place = "--label-from";
  return recipe;
}

}  // namespace dl::vectorize
