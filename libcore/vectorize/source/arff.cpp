// Records of ARFF, the format of Weka.

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/source/arff_text.h"
#include "libcore/vectorize/source/line_records.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class ArffSource : public RecordSource {
 public:
  ArffSource(Inputs inputs, const RecipeSettings& settings)
      : wanted_(std::move(inputs.wanted)),
        lines_(std::move(inputs.operands), RawInput::Kind::kTable,
               settings.has("encoding") ? settings.text("encoding") : "",
               std::move(inputs.tell_encoding), inputs.mark_wins) {
    read_header();
  }

  bool next(Record& record) override {
    std::string_view line;
    do {
      while (!lines_.next_of_input(line)) {
        if (!lines_.open_next()) return false;
        read_header();
      }
    } while (trim(line).starts_with('%'));
    make_record_of_line(lines_, names_, record, [&] {
      if (!is_utf8(line)) bad_data(not_utf8("the line", line));
      line = trim(line);
      if (line.starts_with('{'))
        take_sparse(line);
      else
        take_dense(line);
      for (std::string& value : values_)
        (void)record.columns.emplace(names_->all()[record.columns.size()],
                                     std::move(value));
    });
    return true;
  }

  std::vector<std::string> columns() const override {
    return {names_->all().begin(), names_->all().end() - 1};
  }
  std::vector<std::string> words() const override {
    std::vector<std::string> names;
    for (const ArffAttribute& attribute : attributes_)
      if (attribute.kind == ArffAttribute::Kind::kNominal)
        names.push_back(attribute.name);
    return names;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    bad_data(lines_.place() + ": " + what);
  }

  void read_header() {
    attributes_.clear();
    allowed_.clear();
    std::string_view line;
    while (lines_.next_of_input(line)) {
      if (trim(line).starts_with('%')) continue;
      if (!is_utf8(line)) fail(not_utf8("the line", line));
      if (take_arff_keyword(line, "@data")) return take_names();
      if (take_arff_keyword(line, "@relation")) continue;
      if (!take_arff_keyword(line, "@attribute"))
        fail("want @relation, @attribute or @data, got " +
             in_quotes(clipped(trim(line))));
      if (std::ssize(attributes_) == kMaxColumns)
        fail("has more than " + std::to_string(kMaxColumns) + " attributes");
      try {
        attributes_.push_back(arff_attribute(line));
      } catch (const Error& e) {
        fail(e.what());
      }
      const auto& values = attributes_.back().values;
      allowed_.emplace_back(values.begin(), values.end());
    }
    bad_data(*lines_.name() + " has no @data, so it is no ARFF, or cut short");
  }

  void take_names() {
    std::vector<std::string> names;
    names.reserve(attributes_.size() + 1);
    for (const ArffAttribute& attribute : attributes_)
      names.push_back(attribute.name);
    names_ =
        names_of_columns(std::move(names), *lines_.name(), "two attributes");
    check_columns(wanted_, names_->all(), *lines_.name(), Code::kData);
  }

  // A missing value is an empty text.
  std::string value_of(ArffWord word, std::size_t i) const {
    if (word.is_missing()) return "";
    if (attributes_[i].kind == ArffAttribute::Kind::kNominal &&
        !allowed_[i].contains(word.text))
      bad_data("column " + in_quotes(attributes_[i].name) + ": " +
               in_quotes(clipped(word.text)) +
               " is none of the values that its @attribute has");
    return std::move(word.text);
  }

  void take_dense(std::string_view line) {
    std::vector<ArffWord> words = arff_words(line);
    if (words.size() == attributes_.size() + 1 &&
        words.back().text.starts_with('{'))
      bad_data("has a weight, as {5}, which is not read");
    if (words.size() != attributes_.size())
      bad_data("has " + std::to_string(words.size()) + " values, want " +
               std::to_string(attributes_.size()));
    values_.resize(words.size());
    for (std::size_t i = 0; i < words.size(); ++i)
      values_[i] = value_of(std::move(words[i]), i);
  }

  // {INDEX VALUE, ...}: values that are not there are 0, of a nominal attribute
  // its first one.
  void take_sparse(std::string_view line) {
    if (!line.ends_with('}')) bad_data("want a closing } of sparse values");
    line = trim(line.substr(1, line.size() - 2));
    values_.assign(attributes_.size(), "");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (attributes_[i].kind == ArffAttribute::Kind::kNumber) values_[i] = "0";
      if (attributes_[i].kind == ArffAttribute::Kind::kNominal)
        values_[i] = attributes_[i].values[0];
    }
    std::set<std::int64_t> given;
    while (!line.empty()) {
      const ArffWord index = take_arff_word(line, " \t");
      std::int64_t i = 0;
      if (!parse_integer(index.text, i) || i < 0 ||
          std::cmp_greater_equal(i, values_.size()))
        bad_data("want the number of an attribute, 0.." +
                 std::to_string(values_.size() - 1) + ", got " +
                 in_quotes(clipped(index.text)));
      if (!given.insert(i).second)
        bad_data("attribute " + std::to_string(i) + " is there twice");
      const auto place = static_cast<std::size_t>(i);
      values_[place] = value_of(take_arff_word(line, ","), place);
      line = trim(line);
      if (line.starts_with(',')) line.remove_prefix(1);
    }
  }

  std::vector<WantedColumn> wanted_;
  InputLines lines_;
  std::vector<ArffAttribute> attributes_;  // of the input at hand
  std::vector<std::set<std::string, std::less<>>> allowed_;  // values of each
  RecordColumns::Names names_;                               // and the place
  std::vector<std::string> values_;                          // of a row
};

}  // namespace

bool is_arff(const std::string& file, const std::string& encoding) {
  const RawInput input(file, RawInput::Kind::kTable, encoding);
  std::string_view text = input.ahead();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty() || trim(line).starts_with('%')) continue;
    return take_arff_keyword(line, "@relation");
  }
  return false;
}

std::unique_ptr<RecordSource> open_arff(Inputs inputs,
                                        const RecipeSettings& settings) {
  if (inputs.operands.empty()) inputs.operands = {"-"};
  return std::make_unique<ArffSource>(std::move(inputs), settings);
}

}  // namespace dl::vectorize
