// Strict parsing on top of nlohmann's SAX interface, and checked getters.

#include "libcore/base/json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/display.h"

namespace dl {
namespace {

// Counts what the parser has consumed, to say where it stopped.
template <typename Char>
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Char;
  using difference_type = std::ptrdiff_t;
  using pointer = const Char*;
  using reference = const Char&;

  CountingIterator(const Char* at, std::size_t* count)
      : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const {
    return at_ == other.at_;
  }
  bool operator!=(const CountingIterator& other) const {
    return at_ != other.at_;
  }

 private:
  const Char* at_;
  std::size_t* count_;
};

// Builds a document; stops at a duplicate key and at the limits.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  // format: "JSON", for messages.  container: values that one counts as.
  StrictBuilder(const char* format, std::size_t max_values,
                std::size_t container = 1)
      : format_(format), max_values_(max_values), container_(container) {}
  Json take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return put(value);
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& value) override {
    return put(Json::binary(std::move(value)));
  }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (stack_.back()->contains(name))
      return stop("duplicate key " + in_quotes(name));
    key_ = std::move(name);
    return true;
  }
  // Turns an error of the library, whose text is for programmers, into ours.
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    return stop(dynamic_cast<const Json::out_of_range*>(&error)
                    ? "a number is beyond the range of F64"
                    : std::string("not ") + format_);
  }

 private:
  bool stop(std::string what) {
    problem_ = std::move(what);
    return false;
  }
  bool too_many() {
    return stop("more than " + std::to_string(max_values_) + " values");
  }
  template <typename T>
  Json* place(T&& value) {
    if (stack_.empty()) {
      root_ = std::forward<T>(value);
      return &root_;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::forward<T>(value));
      return &parent.back();
    }
    return &(parent[key_] = std::forward<T>(value));
  }
  template <typename T>
  bool put(T&& value) {
    if (++values_ > max_values_) return too_many();
    place(std::forward<T>(value));
    return true;
  }
  bool open(Json container) {
    if (stack_.size() >= kMaxJsonDepth)
      return stop("nested deeper than " + std::to_string(kMaxJsonDepth));
    values_ += container_;
    if (values_ > max_values_) return too_many();
    stack_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  const char* format_;
  Json root_;
  std::vector<Json*> stack_;  // the containers that are open
  std::string key_;
  std::size_t values_ = 0, max_values_, container_;
  std::string problem_;
};

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Letters to insert, drop or replace, or neighbors to swap, to make b of a.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string describe(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name, Code code,
                std::size_t max_values) {
  text = without_byte_order_mark(text);
  refuse_wide_text(text, name, code);
  StrictBuilder builder("JSON", max_values);
  // The parser takes a NUL for the end.
  const std::string_view whole = text;
  text = text.substr(0, text.find('\0'));
  const bool has_end = text.size() < whole.size();
  std::size_t read = 0;
  CountingIterator<char> first(text.data(), &read);
  CountingIterator<char> last(text.data() + text.size(), &read);
  const bool good = Json::sax_parse(first, last, &builder);
  if (good && !has_end) return builder.take();
  if (good) read = text.size();
  const bool at_nul = has_end && read >= text.size();
  std::string_view before = text.substr(0, std::min(read, text.size()));
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  std::size_t start = before.rfind('\n');
  std::size_t column = start == std::string_view::npos
                           ? before.size()
                           : before.size() - start - 1;
  throw Error{code, name + ", line " + std::to_string(line) + ", column " +
                        std::to_string(std::max<std::size_t>(column, 1)) +
                        ": " + (at_nul ? "a NUL" : builder.problem())};
}

Json parse_msgpack(std::span<const std::byte> bytes, const std::string& name,
                   std::size_t max_values) {
  constexpr std::size_t kContainer = 8;
  StrictBuilder builder("MessagePack", max_values, kContainer);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (Json::sax_parse(data, data + bytes.size(), &builder,
                      Json::input_format_t::msgpack))
    return builder.take();
  throw Error{Code::kProtocol, name + ": " + builder.problem()};
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool JsonView::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

JsonView JsonView::at(std::string_view key) const {
  if (!value_->is_object()) fail("an object");
  auto found = value_->find(key);
  std::string path = displayed(path_);  // its caller's may be any name
  path += (path.empty() ? "" : ".") + displayed(key);
  if (found == value_->end()) throw Error{code_, path + ": is missing"};
  return {*found, code_, std::move(path)};
}

JsonView JsonView::at(std::size_t index) const {
  if (index >= size()) fail("an array of more elements");
  return {(*value_)[index], code_,
          displayed(path_) + "[" + std::to_string(index) + "]"};
}

std::size_t JsonView::size() const {
  if (!value_->is_array()) fail("an array");
  return value_->size();
}

std::int64_t JsonView::integer(std::int64_t min, std::int64_t max) const {
  std::int64_t result = 0;
  bool fits = false;
  if (value_->is_number_unsigned()) {
    auto number = value_->get<std::uint64_t>();
    fits = number <= static_cast<std::uint64_t>(INT64_MAX);
    result = static_cast<std::int64_t>(number);
  } else if (value_->is_number_integer()) {
    fits = true;
    result = value_->get<std::int64_t>();
  }
  if (!fits || result < min || result > max)
    fail("integer " + std::to_string(min) + ".." + std::to_string(max));
  return result;
}

double JsonView::number() const {
  if (!value_->is_number()) fail("a number");
  double result = value_->get<double>();
  if (!std::isfinite(result)) fail("a finite number");
  return result;
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::string JsonView::string() const {
  if (!value_->is_string()) fail("a string");
  return value_->get<std::string>();
}

std::vector<std::string> JsonView::strings() const {
  std::vector<std::string> result(size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = at(i).string();
  return result;
}

std::vector<double> JsonView::numbers() const {
  std::vector<double> result(size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = at(i).number();
  return result;
}

std::vector<std::int64_t> JsonView::integers(std::int64_t min,
                                             std::int64_t max) const {
  std::vector<std::int64_t> result(size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = at(i).integer(min, max);
  return result;
}

void JsonView::only(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& item : value_->items())
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
      std::string near = nearest(item.key(), {keys.begin(), keys.end()});
      throw Error{code_,
                  (path_.empty() ? "" : displayed(path_) + ".") +
                      displayed(item.key()) + ": unknown key" +
                      (near.empty() ? "" : "; did you mean '" + near + "'?")};
    }
}

void JsonView::fail(const std::string& want) const {
  throw Error{code_, (path_.empty() ? "" : displayed(path_) + ": ") + "want " +
                         want + ", got " + describe(*value_)};
}

std::string nearest(std::string_view word,
                    const std::vector<std::string>& candidates) {
  std::string begun;  // the shortest that begins with the word
  std::string near;
  // In a short word fewer mistakes make another word of it.
  const std::size_t most = word.size() < 3 ? 0
                           : word.size() < 5
                               ? 1
                               : std::max<std::size_t>(2, word.size() / 3);
  std::size_t best = most + 1;
  for (const std::string& candidate : candidates) {
    if (same_but_for_case(word, candidate)) return candidate;
    if (word.size() > 1 && candidate.starts_with(word) &&
        (begun.empty() || candidate.size() < begun.size()))
      begun = candidate;
    if (const std::size_t steps = distance(word, candidate); steps < best) {
      best = steps;
      near = candidate;
    }
  }
  return begun.empty() ? near : begun;
}

}  // namespace dl
