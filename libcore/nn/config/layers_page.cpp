// Text of dl-layers(5) from the types of layers.

#include "libcore/nn/config/layers_page.h"

#include <algorithm>
#include <sstream>

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {
namespace {

constexpr std::size_t kWidth = 72;

// The words in lines, each but the first behind `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::istringstream words(text);
  std::string all, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      all += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + line;
}

// A '_' by itself would begin an underlined word in scdoc.
std::string escaped(std::string text) {
  if (const auto at = text.find("'_'"); at != std::string::npos)
    text.insert(at + 1, "\\");
  return text;
}

const char* trained(Trains trains) {
  switch (trains) {
    case Trains::kNothing:
      return "It has no parameters.";
    case Trains::kOthers:
      return "It has trainable parameters, but no weights.";
    case Trains::kWeights:
      return "It has trainable weights.";
    case Trains::kRecurrentWeights:
      return "It has trainable weights and recurrent weights.";
  }
  return "";
}

std::string section_of(const LayerType& type) {
  std::string text =
      "## " + std::string(type.name) + "\n\n" + std::string(type.words) + "\n";
  if (type.make != nullptr) text += std::string(trained(type.trains)) + "\n";
  for (const Key& key : type.keys) text += "\n" + page_entry(key);
  return text;
}

}  // namespace

std::string page_entry(const Key& key) {
  std::string fallback(key.fallback);
  if (fallback.starts_with('('))
    fallback = fallback.substr(1, fallback.size() - 2);
  return wrapped("*" + std::string(key.name) + "*: " + escaped(key.wanted()),
                 "") +
         "\n\t" +
         wrapped(
             (key.required() ? "Required. " : "Default: " + fallback + ". ") +
                 std::string(key.doc),
             "\t") +
         "\n";
}

std::string layers_page() {
  std::string text;
  for (const Key& key : layer_keys())
    if (key.variants.empty()) text += page_entry(key) + "\n";
  text += "# TRAINING\n\n";
  for (const auto& [least, key] : training_keys())
    text += page_entry(key) + "\n";
  text += "# TYPES\n";
  for (const LayerType* type : layer_types()) text += "\n" + section_of(*type);
  return text;
}

}  // namespace dl::nn
