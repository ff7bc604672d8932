// Text of dl-layers(5) from the types of layers.

#include "libcore/nn/config/layers_page.h"

#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "libcore/nn/augment/augment_type.h"
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

// The types that have a key, by its entry, in the order of the first of them.
struct Uses {
  std::vector<std::string> entries;
  std::map<std::string, std::vector<std::string_view>> types;
  // Entries of so many types and more are written once.
  bool shared(const std::string& entry) const {
    constexpr std::size_t kMany = 3;
    return types.at(entry).size() >= kMany;
  }
};

Uses uses_of_keys() {
  Uses uses;
  for (const LayerType* type : layer_types())
    for (const Key& key : type->keys) {
      const std::string entry = page_entry(key);
      auto& types = uses.types[entry];
      if (types.empty()) uses.entries.push_back(entry);
      types.push_back(type->name);
    }
  return uses;
}

std::string shared_keys(const Uses& uses) {
  std::string text =
      "# SHARED KEYS\n\n"
      "Keys that three types or more share; the section of a type names its "
      "own.\n";
  for (const std::string& entry : uses.entries) {
    if (!uses.shared(entry)) continue;
    std::string types;
    for (const std::string_view type : uses.types.at(entry))
      types += (types.empty() ? "For " : ", ") + std::string(type);
    text += "\n" + entry + "\t" + wrapped(types + ".", "\t") + "\n";
  }
  return text;
}

std::string section_of(const LayerType& type, const Uses& uses) {
  std::string text =
      "## " + std::string(type.name) + "\n\n" + std::string(type.words) + "\n";
  if (type.make != nullptr) text += std::string(trained(type.trains)) + "\n";
  std::string shared, own;
  for (const Key& key : type.keys) {
    const std::string entry = page_entry(key);
    if (uses.shared(entry))
      shared +=
          (shared.empty() ? "" : ", ") + ("*" + std::string(key.name)) + "*";
    else
      own += "\n" + entry;
  }
  if (!shared.empty())
    text += "\n" + wrapped("Shared keys: " + shared + ".", "") + "\n";
  return text + own;
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

std::string augment_page() {
  std::string text;
  for (const AugmentType* type : augment_types()) {
    const std::string words(type->words);
    text +=
        "*" + std::string(type->name) + "*\n\t" + wrapped(words, "\t") + "\n\n";
  }
  text += "## Keys of steps\n";
  for (const Key& key : augment_keys()) {
    std::string entry = page_entry(key), variants = key.variants;
    for (std::size_t at = 0; (at = variants.find(' ', at)) != std::string::npos;
         at += 2)
      variants.insert(at, ",");
    if (!variants.empty())
      entry.insert(entry.find("\n\t") + 2,
                   "_" + wrapped(variants, "\t") + "_.\n\t");
    text += "\n" + entry;
  }
  return text;
}

std::string layers_page() {
  std::string text;
  for (const Key& key : layer_keys())
    if (key.variants.empty()) text += page_entry(key) + "\n";
  text += "# TRAINING\n\n";
  for (const auto& [least, key] : training_keys())
    text += page_entry(key) + "\n";
  const Uses uses = uses_of_keys();
  text += shared_keys(uses) + "\n# TYPES\n";
  for (const LayerType* type : layer_types())
    text += "\n" + section_of(*type, uses);
  return text;
}

}  // namespace dl::nn
