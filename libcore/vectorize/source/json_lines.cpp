// Records of JSON Lines.

#include <optional>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/text_blocks.h"

namespace dl::vectorize {
namespace {

class JsonLinesSource : public RecordSource {
 public:
  explicit JsonLinesSource(std::vector<std::string> inputs)
      : inputs_(std::move(inputs)) {
    open_next();
  }

  bool next(Record& record) override {
    for (;;) {
      while (at_ == block_.bytes.size())
        if (!next_block()) return false;
      const std::size_t end =
          std::min(block_.bytes.find('\n', at_), block_.bytes.size());
      const std::string line = block_.bytes.substr(at_, end - at_);
      at_ = std::min(end + 1, block_.bytes.size());
      ++line_;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      take(record, line);
      return true;
    }
  }

 private:
  void open_next() {
    input_.emplace(inputs_[opened_++], std::nullopt, RawInput::Kind::kJson);
  }

  bool next_block() {
    at_ = 0;
    while (!input_->next(block_, INT64_MAX)) {
      input_->input().close();
      block_ = {};
      if (opened_ == inputs_.size()) return false;
      open_next();
    }
    line_ = block_.line - 1;
    return true;
  }

  void take(Record& record, const std::string& line) {
    record = {};
    record.is_sparse = true;
    if (!name_ || *name_ != block_.name)
      name_ = std::make_shared<const std::string>(block_.name);
    record.input = name_;
    record.line = line_;
    record.columns = RecordColumns(names_);
    (void)record.columns.emplace(kPlaceColumn, place_of(block_.name, line_));
    try {
      const Json json = parse_json(line, "the line", Code::kData);
      if (!json.is_object()) bad_data("want an object");
      add_json_columns(record, "", json);
    } catch (const Error& e) {
      constexpr std::string_view kPlace = "the line, line 1, ";
      record.problem = e.what();
      if (record.problem.starts_with(kPlace))
        record.problem.erase(0, kPlace.size());
    }
    names_ = record.columns.names();
  }

  std::vector<std::string> inputs_;
  std::size_t opened_ = 0;
  std::optional<TextBlocks> input_;
  InputBlock block_;
  std::shared_ptr<const std::string> name_;  // of the input
  RecordColumns::Names names_;               // of the line before
  std::size_t at_ = 0;                       // in the block
  std::int64_t line_ = 0;                    // the one that was read last
};

}  // namespace

void add_json_columns(Record& record, const std::string& name,
                      const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      add_json_columns(record, name.empty() ? key : name + "." + key, inner);
    return;
  }
  const bool is_new = record.columns.emplace(
      name, value.is_null()     ? ""
            : value.is_string() ? value.get<std::string>()
                                : dump_json(value));
  if (!is_new)
    bad_data("the column " + in_quotes(name) +
             " is there twice: as a key, and within an object");
}

std::unique_ptr<RecordSource> open_json_lines(Inputs inputs,
                                              const RecipeSettings&) {
  if (inputs.operands.empty()) inputs.operands = {"-"};
  return std::make_unique<JsonLinesSource>(std::move(inputs.operands));
}

}  // namespace dl::vectorize
