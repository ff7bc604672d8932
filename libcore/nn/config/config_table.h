// The keys of a network configuration, as one table: those of layers are their
// types' (layer_type.h).  A node of a graph is a layer that says what goes in.
//
// It drives the checks (config_check.h), the defaults (settings.h) and the JSON
// Schema; a test compares it with the tables of dl-network(5).

#ifndef DL_LIBCORE_NN_CONFIG_CONFIG_TABLE_H_
#define DL_LIBCORE_NN_CONFIG_CONFIG_TABLE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::nn {

enum class Kind {
  kTag,      // one of `values`: says which kind of the object this is
  kInteger,  // `range` "1..65535"
  kNumber,   // `range` "[0, 1)"; "" is any
  kBoolean,
  kName,     // a layer's: letters, digits, '_', '-', '.'
  kOneOf,    // one of `values`
  kShape,    // 1 to 7 integers of `range`
  kTuple,    // integers of `range`, `of` "[height, width]"
  kNumbers,  // one or more numbers of `range`
  // Two numbers of `range`, `of` "[width, height]"; of "[low, high]", ordered.
  kPair,
  kNames,    // a layer's or an input's name, or an array of them
  kObject,   // the object `of`
  kObjects,  // one or more of the object `of`
  // A number of `range`, or the object `of`, a schedule within it.
  kNumberOrObject,
  kMap,  // numbers of `range` by what is counted, one of them for 0
  // The object `of`, or its tag alone where that says everything.
  kTagOrObject,
  // Numbers of `range` in the order of the classes, or by their names, or
  // "balanced".
  kClassWeights
};

struct Key {
  std::string_view object;  // that the key is in: "layer"
  std::string variants;     // tags that have it, "dense conv2d"; "": all
  std::string_view name;
  Kind kind;
  // JSON; "required"; or a phrase in parentheses, "(none)" where a resolved
  // document does not have the key, either.
  std::string_view fallback;
  std::string_view doc;
  std::string_view range = {};
  std::string_view of = {};
  std::span<const std::string_view> values = {};

  bool required() const { return fallback == "required"; }
  // Whether they say the same of what has them.
  bool operator==(const Key& other) const;
  // The default as JSON; null where it is not one value.
  Json default_value() const;
  // "integer 1..65535", "number in [0, 1)": for messages and pages.
  std::string wanted() const;
  std::size_t places() const;                   // of a tuple
  bool belongs_to(std::string_view tag) const;  // "": to any
};

// A range in figures; the infinities where it is open.
struct Interval {
  double low, high;
  bool low_open, high_open;
  bool contains(double x) const;
};
Interval interval_of(std::string_view range);

std::span<const Key> all_keys();

// The key that says which kind of object this is, or null.
const Key* tag_of(std::string_view object);

// Kind of the object of a value that may have errors: "" where it does not say,
// or the object is of one kind. A network is a "sequence" or, by the keys that
// it has, a "graph".
std::string kind_of(std::string_view object, const Json& value);
// The kinds that the object is of: its tag's, or a network's, or "" alone.
std::vector<std::string_view> kinds_of(std::string_view object);

// Keys of an object of the kind `tag` ("": of any kind), in the table's order.
std::vector<const Key*> keys_of(std::string_view object, std::string_view tag);

// Null if there is none.
const Key* find_key(std::string_view object, std::string_view tag,
                    std::string_view name);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_CONFIG_TABLE_H_
