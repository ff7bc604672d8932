// Records of lines whose columns are so many characters wide.

#include <numeric>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/source/line_records.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/table/word_set.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class FixedWidthSource : public RecordSource {
 public:
  FixedWidthSource(Inputs inputs, const RecipeSettings& settings)
      : wanted_(std::move(inputs.wanted)),
        widths_(settings.integers("widths")),
        na_(settings.has("na") ? WordSet(settings.texts("na")) : WordSet()),
        has_header_(!settings.has("names")),
        lines_(std::move(inputs.operands), RawInput::Kind::kTable,
               settings.has("encoding") ? settings.text("encoding") : "",
               std::move(inputs.tell_encoding), inputs.mark_wins) {
    if (has_header_)
      read_header();
    else
      take_names(settings.texts("names"));
  }

  bool next(Record& record) override {
    std::string_view line;
    while (!lines_.next_of_input(line)) {
      if (!lines_.open_next()) return false;
      if (has_header_) read_header();
    }
    make_record_of_line(lines_, names_, record, [&] {
      for (const std::string_view field : cut(line))
        (void)record.columns.emplace(
            names_->all()[record.columns.size()],
            na_.contains(field) ? std::string() : std::string(field));
    });
    return true;
  }

  std::vector<std::string> columns() const override {
    return {names_->all().begin(), names_->all().end() - 1};
  }

 private:
  void read_header() {
    std::string_view line;
    if (!lines_.next_of_input(line)) bad_data(*lines_.name() + ": is empty");
    std::vector<std::string> names;
    try {
      for (const std::string_view field : cut(line)) names.emplace_back(field);
    } catch (Error& e) {
      e.add_context(lines_.place());
      throw;
    }
    take_names(names);
  }

  void take_names(const std::vector<std::string>& names) {
    names_ = names_of_columns(names, *lines_.name(), "two columns");
    check_columns(wanted_, names_->all(), *lines_.name(), Code::kData);
  }

  // The columns of a line, without the blanks around them; those behind its
  // end are empty.
  std::vector<std::string_view> cut(std::string_view line) const {
    const std::string_view whole = line;
    std::vector<std::string_view> fields;
    fields.reserve(widths_.size());
    for (const std::int64_t width : widths_) {
      std::size_t bytes = 0;
      for (std::int64_t i = 0; i < width && bytes < line.size(); ++i) {
        const std::size_t length = utf8_length(line.substr(bytes));
        if (length == 0) bad_data(not_utf8("the line", whole));
        bytes += length;
      }
      fields.push_back(trim(line.substr(0, bytes)));
      line.remove_prefix(bytes);
    }
    if (!trim(line).empty())
      bad_data("is longer than the " +
               std::to_string(std::accumulate(widths_.begin(), widths_.end(),
                                              std::int64_t{0})) +
               " characters of all widths: " + in_quotes(clipped(line)) +
               " is left");
    return fields;
  }

  std::vector<WantedColumn> wanted_;
  std::vector<std::int64_t> widths_;
  WordSet na_;
  bool has_header_;
  InputLines lines_;
  RecordColumns::Names names_;  // and the place
};

}  // namespace

std::unique_ptr<RecordSource> open_fixed_width(Inputs inputs,
                                               const RecipeSettings& settings) {
  if (inputs.operands.empty()) inputs.operands = {"-"};
  return std::make_unique<FixedWidthSource>(std::move(inputs), settings);
}

}  // namespace dl::vectorize
