#include "libcore/vectorize/datavec/process.h"

#include <algorithm>
#include <cstdint>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize::datavec {
namespace {

// Bytes of text in base 64, up to what is none.
std::string of_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr unsigned kDigitBits = 6, kByteBits = 8;
  std::string bytes;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    held = (held << kDigitBits) | static_cast<std::uint32_t>(digit);
    bits += kDigitBits;
    if (bits < kByteBits) continue;
    bits -= kByteBits;
    bytes += static_cast<char>((held >> bits) & 0xffU);
  }
  return bytes;
}

}  // namespace

Named named(const JsonView& object) {
  const Json& json = object.raw();
  if (json.is_object() && json.contains("@class")) {
    const std::string name = object.at("@class").string();
    return {name.substr(name.rfind('.') + 1), object};
  }
  if (!json.is_object() || json.size() != 1)
    object.fail("an object with \"@class\", or of one key, its class");
  const std::string name = json.begin().key();
  return {name, object.at(name)};
}

std::size_t Process::place(const std::string& name) {
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end())
    return static_cast<std::size_t>(found - columns.begin());
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& column : columns) names.push_back(column.name);
  const std::string near = nearest(name, names);
  bad_data("there is no column " + in_quotes(name) +
           (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?"));
}

Column& Process::column(const std::string& name) {
  return columns[place(name)];
}

void Process::let(const std::string& name, const std::string& be,
                  ColumnKind kind) {
  step({{"let", name}, {"be", be}});
  const auto found = std::ranges::find(columns, name, &Column::name);
  Column made{name, kind, {}, Json::object(), false};
  if (found != columns.end())
    *found = std::move(made);
  else
    columns.push_back(std::move(made));
}

void Process::note(const std::string& text) {
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
}

std::string in_formula(std::string_view column) {
  std::string text = "`";
  for (const char c : column) text += c == '`' ? "``" : std::string(1, c);
  return text + "`";
}

std::string text_literal(std::string_view text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? "''" : std::string(1, c);
  return all + "'";
}

std::string constant(const Json& value) {
  if (value.is_string()) return text_literal(value.get<std::string>());
  const std::string text = dump_json(value);
  return text.starts_with('-') ? "(" + text + ")" : text;
}

Json value_of_writable(const JsonView& writable) {
  const Named own = named(writable);
  if (own.name == "NullWritable") return "";
  if (own.name == "Text" && own.of.has("bytes") && own.of.has("length"))
    return of_base64(own.of.at("bytes").string())
        .substr(0, static_cast<std::size_t>(
                       own.of.at("length").integer(0, INT32_MAX)));
  if (own.of.has("value")) return own.of.at("value").raw();
  bad_data("the value of a " + own.name + " is not read; want a number");
}

}  // namespace dl::vectorize::datavec
