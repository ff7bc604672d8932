// A parser of JSON, RFC 8259, as strict as nlohmann's.

#include "libcore/plot/event_line.h"

#include <array>
#include <charconv>
#include <cmath>

namespace dl::plot {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes that stand for themselves in a string.
constexpr std::array<bool, 256> plain_bytes() {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

// A string with escapes, or of more than ASCII; null: it is damaged.
Json decoded_string(std::string_view content) {
  return Json::parse('"' + std::string(content) + '"', nullptr, false);
}

}  // namespace

bool EventLine::parse(std::string_view text) {
  nodes_.clear();
  keys_.clear();
  at_ = text.data();
  end_ = at_ + text.size();
  bool is_right = value({}, 0);
  space();
  is_right &= at_ == end_;
  if (!is_right) nodes_.clear();
  return is_right;
}

void EventLine::space() {
  while (at_ != end_ &&
         (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'))
    ++at_;
}

bool EventLine::value(std::string_view key, int depth) {
  space();
  if (at_ == end_ || depth > kMaxJsonDepth || nodes_.size() >= kMaxJsonValues)
    return false;
  const auto number_of = static_cast<std::uint32_t>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.key = key;
  switch (*at_) {
    case '{':
    case '[': {
      node.kind = *at_ == '{' ? Kind::kObject : Kind::kArray;
      const char* const begin = at_;
      if (!members(*at_ == '{' ? '}' : ']', number_of, depth)) return false;
      nodes_[number_of].text = {begin, static_cast<std::size_t>(at_ - begin)};
      return true;
    }
    case '"':
      node.kind = Kind::kString;
      return string(node.text, node.is_plain);
    case 't':
    case 'f':
      node.kind = Kind::kBoolean;
      return word(*at_ == 't' ? "true" : "false");
    case 'n':
      return word("null");
    default:
      return number(node);
  }
}

bool EventLine::members(char end, std::uint32_t parent, int depth) {
  ++at_;
  space();
  if (at_ != end_ && *at_ == end) {
    ++at_;
    return true;
  }
  std::uint32_t before = 0, size = 0;
  for (;;) {
    std::string_view key;
    if (end == '}') {
      bool is_plain = true;
      space();
      if (at_ == end_ || *at_ != '"' || !string(key, is_plain)) return false;
      if (!is_plain)
        key = keys_.emplace_back(decoded_string(key).get<std::string>());
      space();
      if (!take(':')) return false;
    }
    const auto here = static_cast<std::uint32_t>(nodes_.size());
    if (!value(key, depth + 1)) return false;
    if (before != 0) nodes_[before].next = here;
    before = here;
    ++size;
    space();
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c == end) break;
    if (c != ',') return false;
  }
  nodes_[parent].size = size;
  return true;
}

bool EventLine::string(std::string_view& content, bool& is_plain) {
  const char* const begin = ++at_;
  for (;; ++at_) {
    while (at_ != end_ && kPlain[static_cast<unsigned char>(*at_)]) ++at_;
    if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x20) return false;
    if (*at_ == '"') break;
    is_plain = false;
    if (take('\\') && at_ == end_) return false;
  }
  content = {begin, static_cast<std::size_t>(at_++ - begin)};
  return is_plain || decoded_string(content).is_string();
}

// Passes over digits; returns whether there are any.
bool EventLine::digits() {
  const char* const begin = at_;
  while (at_ != end_ && is_digit(*at_)) ++at_;
  return at_ != begin;
}

bool EventLine::number(Node& node) {
  constexpr std::ptrdiff_t kMostDigits = 18;  // that 64 bits hold
  const char* const begin = at_;
  const bool is_negative = take('-');
  const char* const first = at_;
  if (!digits() || (*first == '0' && at_ - first > 1)) return false;
  const bool is_short = at_ - first <= kMostDigits;
  std::int64_t whole = 0;
  if (is_short)
    for (const char* c = first; c != at_; ++c) whole = 10 * whole + (*c - '0');
  node.kind = Kind::kInteger;
  if (take('.')) {
    node.kind = Kind::kNumber;
    if (!digits()) return false;
  }
  if (take('e') || take('E')) {
    node.kind = Kind::kNumber;
    if (!take('+')) take('-');
    if (!digits()) return false;
  }
  node.text = {begin, static_cast<std::size_t>(at_ - begin)};
  if (node.kind == Kind::kInteger && is_short) {
    node.number = static_cast<double>(is_negative ? -whole : whole);
    return true;
  }
  if (std::from_chars(begin, at_, node.number).ec == std::errc()) return true;
  const Json json = Json::parse(node.text, nullptr, false);  // very near zero?
  if (!json.is_number()) return false;
  node.number = json.get<double>();
  return true;
}

// Passes over that byte if it is the next; returns whether it is.
bool EventLine::take(char c) {
  const bool is_next = at_ != end_ && *at_ == c;
  if (is_next) ++at_;
  return is_next;
}

bool EventLine::word(std::string_view expected) {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  if (!rest.starts_with(expected)) return false;
  nodes_.back().text = rest.substr(0, expected.size());
  at_ += expected.size();
  return true;
}

bool EventValue::is_object() const {
  return line_ && line_->nodes_[at_].kind == EventLine::Kind::kObject;
}
bool EventValue::is_array() const {
  return line_ && line_->nodes_[at_].kind == EventLine::Kind::kArray;
}
bool EventValue::is_string() const {
  return line_ && line_->nodes_[at_].kind == EventLine::Kind::kString;
}
bool EventValue::is_integer() const {
  return line_ && line_->nodes_[at_].kind == EventLine::Kind::kInteger;
}
bool EventValue::is_number() const {
  return line_ && (line_->nodes_[at_].kind == EventLine::Kind::kNumber ||
                   line_->nodes_[at_].kind == EventLine::Kind::kInteger);
}

double EventValue::number() const {
  return line_ ? line_->nodes_[at_].number
               : std::numeric_limits<double>::quiet_NaN();
}

std::string EventValue::text() const {
  if (!is_string()) return {};
  const EventLine::Node& node = line_->nodes_[at_];
  return node.is_plain ? std::string(node.text)
                       : decoded_string(node.text).get<std::string>();
}

EventValue EventValue::operator[](std::string_view key) const {
  EventValue found;
  if (!is_object()) return found;
  for (EventValue one = first(); one; one = one.next())
    if (line_->nodes_[one.at_].key == key) found = one;
  return found;
}

Json EventValue::json() const {
  if (!line_) return {};
  const EventLine::Node& node = line_->nodes_[at_];
  return is_string() ? Json(text()) : Json::parse(node.text, nullptr, false);
}

std::size_t EventValue::size() const {
  return line_ ? line_->nodes_[at_].size : 0;
}

EventValue EventValue::first() const {
  return size() > 0 ? EventValue(line_, at_ + 1) : EventValue();
}

EventValue EventValue::next() const {
  const std::uint32_t at = line_->nodes_[at_].next;
  return at != 0 ? EventValue(line_, at) : EventValue();
}

std::string EventValue::key() const {
  return line_ ? std::string(line_->nodes_[at_].key) : std::string();
}

}  // namespace dl::plot
