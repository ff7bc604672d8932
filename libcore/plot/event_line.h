// One line of a history as values, read without building a document: parts of
// the line, in memory that the next line uses again.

#ifndef DL_LIBCORE_PLOT_EVENT_LINE_H_
#define DL_LIBCORE_PLOT_EVENT_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::plot {

class EventLine;

// A value of a line, or none; as long as the line is not parsed anew.
class EventValue {
 public:
  EventValue() = default;

  explicit operator bool() const noexcept { return line_ != nullptr; }
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;
  bool is_integer() const;

  // NaN: it is no number.
  double number() const;
  // "": it is no string.
  std::string text() const;
  // The value of a member, the last of that name; none if there is none.
  EventValue operator[](std::string_view key) const;
  // The JSON text as a document; null of none.
  Json json() const;

  // Members of an object or elements of an array: for (EventValue v =
  // of.first(); v; v = v.next()).
  std::size_t size() const;
  EventValue first() const;
  EventValue next() const;
  std::string key() const;

 private:
  friend class EventLine;
  EventValue(const EventLine* line, std::uint32_t at) : line_(line), at_(at) {}

  const EventLine* line_ = nullptr;
  std::uint32_t at_ = 0;
};

class EventLine {
 public:
  // Takes a JSON text, and whether it is one: not nested deeper, nor of more
  // values, than parse_json() takes.  The text stays the caller's, and must
  // outlive the values.
  bool parse(std::string_view text);
  EventValue root() const {
    return nodes_.empty() ? EventValue() : EventValue(this, 0);
  }

 private:
  friend class EventValue;
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kNumber,
    kString,
    kArray,
    kObject
  };
  struct Node {
    std::string_view key, text;  // a string's without its quotes
    double number = std::numeric_limits<double>::quiet_NaN();
    std::uint32_t size = 0, next = 0;  // 0: it is the last of its parent
    Kind kind = Kind::kNull;
    bool is_plain = true;  // whether a string is as it stands there
  };

  bool value(std::string_view key, int depth);
  bool members(char end, std::uint32_t parent, int depth);
  bool string(std::string_view& content, bool& is_plain);
  bool number(Node& node);
  bool word(std::string_view expected);
  bool digits();
  bool take(char c);
  void space();

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::vector<Node> nodes_;
  std::deque<std::string> keys_;  // those that are not as they stand there
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EVENT_LINE_H_
