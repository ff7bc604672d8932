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

namespace dl::convert::dl4j {
namespace {

using tensor::Shape;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kMostExtent = 1'000'000;

enum class Kind {
  kUnknown,
  kVector,
  kSequence,
  kImage,
  kVolume,
  kToken,
  kTokens
};

struct Need {
  Kind kind = Kind::kUnknown;
  std::int64_t channels = 0;  // 0: unknown
  Sizes known = {};           // all extents, or none
  std::optional<bool> last =
      {};  // where DL4J has its channels, if that is said
};

// What layers read; those that read anything are left out.
constexpr std::array<std::pair<std::string_view, Kind>, 40> kReads{
    {{"upsampling3d", Kind::kVolume},
     {"zeropadding3d", Kind::kVolume},
     {"cropping3d", Kind::kVolume},
     {"dense", Kind::kVector},
     {"output", Kind::kVector},
     {"centerlossoutput", Kind::kVector},
     {"autoencoder", Kind::kVector},
     {"variationalautoencoder", Kind::kVector},
     {"elementwisemultiplication", Kind::kVector},
     {"repeatvector", Kind::kVector},
     {"duplicatetotimeseries", Kind::kVector},
     {"embedding", Kind::kToken},
     {"embeddingsequence", Kind::kTokens},
     {"selfattention", Kind::kSequence},
     {"lstm", Kind::kSequence},
     {"graveslstm", Kind::kSequence},
     {"gravesbidirectionallstm", Kind::kSequence},
     {"simplernn", Kind::kSequence},
     {"bidirectional", Kind::kSequence},
     {"lasttimestep", Kind::kSequence},
     {"reversetimeseries", Kind::kSequence},
     {"timedistributed", Kind::kSequence},
     {"maskzero", Kind::kSequence},
     {"rnnoutput", Kind::kSequence},
     {"rnnloss", Kind::kSequence},
     {"convolution1d", Kind::kSequence},
     {"subsampling1d", Kind::kSequence},
     {"pooling1d", Kind::kSequence},
     {"upsampling1d", Kind::kSequence},
     {"zeropadding1d", Kind::kSequence},
     {"cropping1d", Kind::kSequence},
     {"convolution3d", Kind::kVolume},
     {"subsampling3d", Kind::kVolume},
     {"cnn3dloss", Kind::kVolume},
     {"subsampling", Kind::kImage},
     {"zeropadding", Kind::kImage},
     {"upsampling", Kind::kImage},
     {"cnnloss", Kind::kImage},
     {"spacetodepth", Kind::kImage},
     {"localresponsenormalization", Kind::kImage}}};

Kind kind_of(const std::string& name) {
  for (const auto& [layer, kind] : kReads)
    if (name == layer) return kind;
  if (name.ends_with("2d") || name == "convolution") return Kind::kImage;
  return Kind::kUnknown;
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
  if (need.kind == Kind::kTokens)
    if (const auto steps = positive(layer, "inputLength"); steps > 1)
      need.known = {steps};
  if (need.kind == Kind::kToken) need.known = {1};
  return need;
}

Need shape_for(const Json& given, const Need& behind) {
  const std::string name = class_of(given, "preprocessor");
  const Sizes image = {positive(given, "inputHeight"),
                       positive(given, "inputWidth"),
                       positive(given, "numChannels")};
  const bool told = std::ranges::all_of(
      image, [](auto extent) { return extent > 0 && extent <= kMostExtent; });
  const std::int64_t all = told ? image[0] * image[1] * image[2] : 0;
  if (told && (name == "feedforwardtocnn" || name == "cnntofeedforward" ||
               name == "cnntornn"))
    return {Kind::kImage, image[2], image};
  if (told && name == "rnntocnn") return {Kind::kSequence, all};
  const std::int64_t depth = positive(given, "inputDepth");
  if (told && depth > 0 &&
      (name == "feedforwardtocnn3d" || name == "cnn3dtofeedforward"))
    return {Kind::kVolume, image[2], {depth, image[0], image[1], image[2]}};
  if (name == "rnntofeedforward" && behind.kind == Kind::kToken)
    return {Kind::kTokens};
  if (name == "rnntofeedforward") return {Kind::kSequence, behind.channels};
  if (name == "feedforwardtornn") return {Kind::kVector, behind.channels};
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

// Of what reads a value, and where that passes it on, of what reads that.
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
    // What knows nothing of channels keeps them.
    if (vertex.preprocessor.is_null() &&
        (own.kind == Kind::kUnknown || own.channels == 0)) {
      const Need next = need_of(conf, vertex.name, seen);
      if (!own.last) own.last = next.last;
      const bool joins = class_of(vertex.json, "vertex") == "merge" ||
                         class_of(vertex.json, "vertex") == "subset";
      const bool same = own.kind == Kind::kUnknown || own.kind == next.kind;
      if (own.channels == 0 && !joins && same) own.channels = next.channels;
      if (own.kind == Kind::kUnknown) own.kind = next.kind;
    }
    if (need.kind == Kind::kUnknown) need.kind = own.kind;
    if (need.channels == 0) need.channels = own.channels;
    if (need.known.empty()) need.known = own.known;
    if (!need.last) need.last = own.last;
  }
  return need;
}

// What is given, with its channels last.
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
  if (need.kind == Kind::kTokens) text = "?";
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
  const bool tokens = need.kind == Kind::kToken || need.kind == Kind::kTokens;
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
    case Kind::kSequence:
      ask(name, need, 1);
    case Kind::kImage:
      ask(name, need, 2);
    case Kind::kVolume:
      ask(name, need, 3);
    case Kind::kTokens:
      ask(name, need, 0);
    case Kind::kVector:
    case Kind::kToken:
    case Kind::kUnknown:
      break;
  }
  if (need.channels == 0 && columns > 0)
    return {Shape{static_cast<std::int64_t>(columns)}, tokens, last};
  if (need.channels == 0) ask(name, need, 0);
  return {Shape{need.channels}, tokens, last};
}

}  // namespace dl::convert::dl4j
