// Weka's documentation "ARFF (stable version)" describes the format.

#include "libcore/vectorize/source/arff_text.h"

#include <algorithm>
#include <cctype>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kArffBlanks = " \t";

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// The character that an escape stands for.
char unescaped(char c) {
  return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

}  // namespace

ArffWord take_arff_word(std::string_view& line, std::string_view ends) {
  line.remove_prefix(
      std::min(line.find_first_not_of(kArffBlanks), line.size()));
  ArffWord word;
  const char quote = line.empty() ? '\0' : line.front();
  word.is_quoted = quote == '\'' || quote == '"';
  if (!word.is_quoted) {
    const std::size_t end = std::min(line.find_first_of(ends), line.size());
    word.text = trim(line.substr(0, end));
    line.remove_prefix(end);
    return word;
  }
  std::size_t at = 1;
  for (; at < line.size() && line[at] != quote; ++at) {
    const bool is_escape = line[at] == '\\' && at + 1 < line.size();
    word.text += is_escape ? unescaped(line[++at]) : line[at];
  }
  if (at >= line.size()) bad_data("a quote is not closed");
  line.remove_prefix(at + 1);
  return word;
}

std::vector<ArffWord> arff_words(std::string_view line) {
  std::vector<ArffWord> words;
  for (;;) {
    words.push_back(take_arff_word(line, ","));
    line = trim(line);
    if (line.empty()) return words;
    if (line.front() != ',') bad_data("text after a closing quote");
    line.remove_prefix(1);
  }
}

ArffAttribute arff_attribute(std::string_view line) {
  ArffAttribute attribute;
  attribute.name = take_arff_word(line, kArffBlanks).text;
  if (attribute.name.empty()) bad_data("an attribute has no name");
  line = trim(line);
  if (line.starts_with('{')) {
    if (!line.ends_with('}'))
      bad_data("the values of attribute " + in_quotes(attribute.name) +
               " want a closing }");
    attribute.kind = ArffAttribute::Kind::kNominal;
    for (ArffWord& word : arff_words(line.substr(1, line.size() - 2)))
      attribute.values.push_back(std::move(word.text));
    return attribute;
  }
  const std::string type = take_arff_word(line, kArffBlanks).text;
  const auto is_one_of = [&](std::initializer_list<const char*> words) {
    return std::ranges::any_of(
        words, [&](const char* word) { return is_same_word(type, word); });
  };
  if (is_one_of({"string"}))
    attribute.kind = ArffAttribute::Kind::kText;
  else if (is_one_of({"date"}))
    attribute.kind = ArffAttribute::Kind::kDate;
  else if (!is_one_of({"numeric", "real", "integer"}))
    bad_data("attribute " + in_quotes(attribute.name) +
             ": want numeric, real, integer, string, date or {VALUES}, got " +
             in_quotes(clipped(type)));
  return attribute;
}

bool take_arff_keyword(std::string_view& line, std::string_view keyword) {
  const std::string_view own = trim(line);
  if (!is_same_word(own.substr(0, keyword.size()), keyword)) return false;
  const std::string_view rest = own.substr(keyword.size());
  if (!rest.empty() && kArffBlanks.find(rest.front()) == std::string_view::npos)
    return false;
  line = rest;
  return true;
}

}  // namespace dl::vectorize
