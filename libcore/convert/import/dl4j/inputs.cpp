// Shapes of a DL4J model's inputs, derived from the layers that read them.

#include "libcore/convert/import/dl4j/inputs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/axes.h"
#include "libcore/convert/import/dl4j/legacy.h"
#include "libcore/convert/import/graph.h"

namespace dl::convert::dl4j {
namespace {

using tensor::Shape;
constexpr std::int64_t kMostOfInput = 1'000'000;

enum class Sort {
  kUnknown,
  kVector,
  kSequence,
  kImage,
  kVolume,
  kToken,
  kTokens
};

struct Need {
  Sort kind = Sort::kUnknown;
  std::int64_t channels = 0;  // 0: unknown
  Sizes known = {};           // all extents, or none
  std::optional<bool> last =
      {};  // where DL4J has its channels, if that is said
};

// Sort of input of each layer; those that read anything are left out.
constexpr std::array<std::pair<std::string_view, Sort>, 40> kReads{
    {{"upsampling3d", Sort::kVolume},
     {"zeropadding3d", Sort::kVolume},
     {"cropping3d", Sort::kVolume},
     {"dense", Sort::kVector},
     {"output", Sort::kVector},
     {"centerlossoutput", Sort::kVector},
     {"autoencoder", Sort::kVector},
     {"variationalautoencoder", Sort::kVector},
     {"elementwisemultiplication", Sort::kVector},
     {"repeatvector", Sort::kVector},
     {"duplicatetotimeseries", Sort::kVector},
     {"embedding", Sort::kToken},
     {"embeddingsequence", Sort::kTokens},
     {"selfattention", Sort::kSequence},
     {"lstm", Sort::kSequence},
     {"graveslstm", Sort::kSequence},
     {"gravesbidirectionallstm", Sort::kSequence},
     {"simplernn", Sort::kSequence},
     {"bidirectional", Sort::kSequence},
     {"lasttimestep", Sort::kSequence},
     {"reversetimeseries", Sort::kSequence},
     {"timedistributed", Sort::kSequence},
     {"maskzero", Sort::kSequence},
     {"rnnoutput", Sort::kSequence},
     {"rnnloss", Sort::kSequence},
     {"convolution1d", Sort::kSequence},
     {"subsampling1d", Sort::kSequence},
     {"pooling1d", Sort::kSequence},
     {"upsampling1d", Sort::kSequence},
     {"zeropadding1d", Sort::kSequence},
     {"cropping1d", Sort::kSequence},
     {"convolution3d", Sort::kVolume},
     {"subsampling3d", Sort::kVolume},
     {"cnn3dloss", Sort::kVolume},
     {"subsampling", Sort::kImage},
     {"zeropadding", Sort::kImage},
     {"upsampling", Sort::kImage},
     {"cnnloss", Sort::kImage},
     {"spacetodepth", Sort::kImage},
     {"localresponsenormalization", Sort::kImage}}};

Sort kind_of(const std::string& name) {
  for (const auto& [layer, kind] : kReads)
    if (name == layer) return kind;
  if (name.ends_with("2d") || name == "convolution") return Sort::kImage;
  return Sort::kUnknown;
}

std::int64_t positive(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_number_integer() && value.get<std::int64_t>() > 0
             ? value.get<std::int64_t>()
             : 0;
}

// The layer within all wrappers, whose number of inputs counts.
const Json& innermost(const Json& layer) {
  for (const char* key : {"underlying", "layer", "insideLayer", "fwd"})
    if (member(layer, key).is_object()) return innermost(member(layer, key));
  return layer;
}

Need of_layer(const Json& layer) {
  std::string name = class_of(layer, "layer");
  if (name == "frozen" || name == "frozenlayerwithbackprop")
    for (const char* key : {"layer", "insideLayer", "underlying"})
      if (member(layer, key).is_object()) return of_layer(member(layer, key));
  Need need{.kind = kind_of(name),
            .channels = positive(innermost(layer), "nin")};
  for (const Json* one : {&layer, &innermost(layer)})
    if (!need.last && name != "embeddingsequence" && name != "repeatvector")
      need.last = channels_last_in(*one);
  if (need.kind == Sort::kTokens)
    if (const auto steps = positive(layer, "inputLength"); steps > 1)
      need.known = {steps};
  if (need.kind == Sort::kToken) need.known = {1};
  return need;
}

Need shape_for(const Json& given, const Need& behind) {
  const std::string name = class_of(given, "preprocessor");
  const Sizes image = {positive(given, "inputHeight"),
                       positive(given, "inputWidth"),
                       positive(given, "numChannels")};
  const bool told = std::ranges::all_of(
      image, [](auto extent) { return extent > 0 && extent <= kMostOfInput; });
  const std::int64_t all = told ? image[0] * image[1] * image[2] : 0;
  if (told && (name == "feedforwardtocnn" || name == "cnntofeedforward" ||
               name == "cnntornn"))
    return {Sort::kImage, image[2], image};
  if (told && name == "rnntocnn") return {Sort::kSequence, all};
  const std::int64_t depth = positive(given, "inputDepth");
  if (told && depth > 0 &&
      (name == "feedforwardtocnn3d" || name == "cnn3dtofeedforward"))
    return {Sort::kVolume, image[2], {depth, image[0], image[1], image[2]}};
  if (name == "rnntofeedforward" && behind.kind == Sort::kToken)
    return {Sort::kTokens};
  if (name == "rnntofeedforward") return {Sort::kSequence, behind.channels};
  if (name == "feedforwardtornn") return {Sort::kVector, behind.channels};
  return behind;
}

Need of_preprocessor(const Json& given, const Need& behind) {
  const std::string name = class_of(given, "preprocessor");
  if (name == "composableinput" &&
      member(given, "inputPreProcessors").is_array())
    for (const Json& one : given["inputPreProcessors"])
      return of_preprocessor(unwrapped(one), behind);
  Need need = shape_for(given, behind);
  // Images between the steps of a sequence have their channels first.
  need.last = name != "cnntornn" && channels_last_in(given) == true;
  return need;
}

// Need of the readers of a value and, where they pass it on, of theirs.
Need need_of(const Conf& conf, const std::string& name,
             std::set<std::string>& seen) {
  Need need;
  if (!seen.insert(name).second) return need;
  for (const Vertex& vertex : conf.vertices) {
    if (std::ranges::find(vertex.inputs, name) == vertex.inputs.end()) continue;
    Need own;
    if (!vertex.layer.is_null()) {
      own = of_layer(vertex.layer);
      if (!vertex.preprocessor.is_null())
        own = of_preprocessor(vertex.preprocessor, own);
    } else {
      own.kind = kind_of(class_of(vertex.json, "vertex"));
    }
    // Layers that know nothing of channels keep them.
    if (vertex.preprocessor.is_null() &&
        (own.kind == Sort::kUnknown || own.channels == 0)) {
      const Need next = need_of(conf, vertex.name, seen);
      if (!own.last) own.last = next.last;
      const bool joins = class_of(vertex.json, "vertex") == "merge" ||
                         class_of(vertex.json, "vertex") == "subset";
      const bool same = own.kind == Sort::kUnknown || own.kind == next.kind;
      if (own.channels == 0 && !joins && same) own.channels = next.channels;
      if (own.kind == Sort::kUnknown) own.kind = next.kind;
    }
    if (need.kind == Sort::kUnknown) need.kind = own.kind;
    if (need.channels == 0) need.channels = own.channels;
    if (need.known.empty()) need.known = own.known;
    if (!need.last) need.last = own.last;
  }
  return need;
}

// The given shape, with its channels last.
Shape ordered(const Shape& given, const Need& need) {
  const int rank = given.rank();
  if (rank < 2 || need.channels == 0 || given.back() == need.channels ||
      given[0] != need.channels)
    return given;
  Sizes extents(given.extents().begin() + 1, given.extents().end());
  extents.push_back(given[0]);
  return Shape(std::span<const std::int64_t>(extents));
}

[[noreturn]] void ask(const std::string& name, const Need& need, int open) {
  const std::string channels =
      need.channels > 0 ? std::to_string(need.channels) : "?";
  std::string text;
  for (int k = 0; k < open; ++k) text += "?,";
  text += channels;
  if (need.kind == Sort::kTokens) text = "?";
  throw Error{Code::kUsage, "the model does not say what shape its input " +
                                in_quotes(name) + " has, " + text +
                                "; --shape gives it, as in --shape " + name +
                                "=" + example_of(text)};
}

}  // namespace

InputShape input_shape(const Conf& conf, const std::string& name,
                       const std::map<std::string, Shape>& given,
                       std::size_t columns) {
  std::set<std::string> seen;
  const Need need = need_of(conf, name, seen);
  const bool tokens = need.kind == Sort::kToken || need.kind == Sort::kTokens;
  const bool last = need.last == true;
  for (const std::string& key : {name, std::string()})
    if (const auto found = given.find(key); found != given.end())
      return {ordered(found->second, need), tokens, last};
  if (!need.known.empty()) {
    const Shape shape{std::span<const std::int64_t>(need.known)};
    // One that is normalized number by number is a vector, as in DL4J.
    const bool each = columns > 1 && shape.rank() > 1 &&
                      static_cast<std::int64_t>(columns) == shape.elements();
    return {each ? Shape{shape.elements()} : shape, tokens, last};
  }
  switch (need.kind) {
    case Sort::kSequence:
      ask(name, need, 1);
    case Sort::kImage:
      ask(name, need, 2);
    case Sort::kVolume:
      ask(name, need, 3);
    case Sort::kTokens:
      ask(name, need, 0);
    case Sort::kVector:
    case Sort::kToken:
    case Sort::kUnknown:
      break;
  }
  if (need.channels == 0 && columns > 0)
    return {Shape{static_cast<std::int64_t>(columns)}, tokens, last};
  if (need.channels == 0) ask(name, need, 0);
  return {Shape{need.channels}, tokens, last};
}

}  // namespace dl::convert::dl4j
