// Records of JSON Lines.

#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/source/input_lines.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

class JsonLinesSource : public RecordSource {
 public:
  explicit JsonLinesSource(std::vector<std::string> inputs)
      : lines_(std::move(inputs), RawInput::Kind::kJson) {}

  bool next(Record& record) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    take(record, std::string(line));
    return true;
  }

 private:
  void take(Record& record, const std::string& line) {
    record = {};
    record.is_sparse = true;
    record.input = lines_.name();
    record.line = lines_.number();
    record.columns = RecordColumns(names_);
    (void)record.columns.emplace(kPlaceColumn,
                                 place_of(*record.input, record.line));
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

  InputLines lines_;
  RecordColumns::Names names_;  // of the line before
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
