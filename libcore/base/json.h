// JSON and MessagePack from files and peers, read with suspicion.
//
// nlohmann/json keeps the last of two equal keys, turns -1 into 2^64-1 when
// asked for an unsigned, recurses as deep as the text does, and takes up to 40
// bytes of memory for one of text.  parse_json()
// and parse_msgpack() refuse such documents; JsonView reads values with their
// type and range checked, and names the path in the message.

#ifndef DL_LIBCORE_BASE_JSON_H_
#define DL_LIBCORE_BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"

namespace dl {

using Json = nlohmann::json;

// Deepest nesting and most values (of all depths) accepted.
constexpr int kMaxJsonDepth = 64;
constexpr std::size_t kMaxJsonValues = std::size_t{1} << 22;

// Parses one JSON text, behind a byte order mark if it has one.  `name` is how
// to call it in messages, e.g.
// "'lenet.json'".
//
// Throws Error{code}: "'lenet.json', line 14, column 9: ..." for a syntax
// error, a duplicate key, nesting over kMaxJsonDepth, more than max_values,
// text after the value.
Json parse_json(std::string_view text, const std::string& name, Code code,
                std::size_t max_values = kMaxJsonValues);

// The same for one MessagePack value; throws Error{kProtocol}.
// A map or an array counts as eight values, for that is what it takes.
Json parse_msgpack(std::span<const std::byte> bytes, const std::string& name,
                   std::size_t max_values = kMaxJsonValues);

// One line of text; bytes that are not UTF-8 are replaced, never thrown on.
std::string dump_json(const Json& value);

// A value inside a document together with the path that leads to it.  Copies
// are cheap; the document must outlive them.  Every getter throws
// Error{code}: "PATH: want integer 1..65535, got -1".
class JsonView {
 public:
  JsonView(const Json& value, Code code, std::string path = {})
      : value_(&value), code_(code), path_(std::move(path)) {}

  bool has(std::string_view key) const;  // also false if this is no object
  JsonView at(std::string_view key) const;
  JsonView at(std::size_t index) const;
  std::size_t size() const;  // of an array; throws if it is none

  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  double number() const;  // finite
  bool boolean() const;
  std::string string() const;
  std::vector<std::string> strings() const;
  std::vector<double> numbers() const;
  std::vector<std::int64_t> integers(std::int64_t min, std::int64_t max) const;

  // Throws unless this is an object with no key outside `keys`.
  void only(std::initializer_list<std::string_view> keys) const;

  const Json& raw() const noexcept { return *value_; }
  const std::string& path() const noexcept { return path_; }
  [[noreturn]] void fail(const std::string& want) const;

 private:
  const Json* value_;
  Code code_;
  std::string path_;
};

// The candidate that `word` was probably meant to be: a candidate that begins
// with it, else the nearest by edit distance; "" if none is near.
std::string nearest(std::string_view word,
                    const std::vector<std::string>& candidates);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_JSON_H_
