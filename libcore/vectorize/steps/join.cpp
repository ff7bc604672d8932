// The step join: columns of another file beside those of a row.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/steps/key.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kJoinWays[] = {"left", "inner", "right", "outer"};

class JoinStep : public Step {
 public:
  JoinStep(const RecipeSettings& settings, StepColumns& columns)
      : file_(settings.text("join")),
        delimiter_(settings.text("delimiter")),
        how_(settings.text("how")),
        on_(settings.list("on")),
        take_(settings.list("take")),
        key_(on_, columns) {
    // A model may come from anywhere: no command of it runs.
    if (!io::names_file(file_))
      bad_config("join wants the name of a file, got " + in_quotes(file_));
    for (const std::string& name : on_)
      keys_.push_back(columns.make(name, ValueType::kAny));
    for (const std::string& name : take_) {
      if (std::ranges::find(on_, name) != on_.end())
        bad_config("\"on\" and \"take\" both have " + in_quotes(name));
      slots_.push_back(columns.add(name, ValueType::kAny));
    }
  }

  void start(std::size_t slots) override {
    row_slots_ = slots;
    CsvTable csv({file_}, {.delimiter = delimiter_}, CsvTable::For::kRecipe);
    std::vector<WantedColumn> wanted;
    for (const auto* names : {&on_, &take_})
      for (const std::string& name : *names) wanted.push_back({name, "join"});
    check_columns(wanted, csv.names(), csv.name(), Code::kData);
    const std::vector<std::size_t> on = places_of(on_, csv.names());
    const std::vector<std::size_t> take = places_of(take_, csv.names());
    name_ = std::make_shared<const std::string>(csv.name());
    for (InputBlock block; csv.cut(block, INT64_MAX);)
      for (CsvRows rows(block, block.delimiter); rows.next();) {
        if (rows.size() != csv.names().size())
          bad_data(rows.place() + ": has " + std::to_string(rows.size()) +
                   " columns, the header " +
                   std::to_string(csv.names().size()));
        Other other{rows.line(), {}, {}};
        for (const std::size_t i : on)
          other.key.emplace_back(csv_field(rows, i));
        for (const std::size_t i : take)
          other.values.emplace_back(csv_field(rows, i));
        places_[key_of(other)].push_back(others_.size());
        others_.push_back(std::move(other));
      }
    met_.resize(others_.size());
  }

  void take(Row&& row, const Next& next) override {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      row.cells[keys_[i]] = row.cells[key_.columns()[i].slot];
    const auto found = places_.find(key_.of(row));
    if (found == places_.end()) {
      if (how_ == "left" || how_ == "outer") next(std::move(row));
      return;
    }
    for (const std::size_t place : found->second) {
      met_[place] = true;
      Row joined = row;
      fill(others_[place], joined);
      next(std::move(joined));
    }
  }

  // Rows of the file that no row met.
  void finish(const Next& next) override {
    if (how_ != "right" && how_ != "outer") return;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (met_[i]) continue;
      Row row;
      row.cells.resize(row_slots_);
      row.record.input = name_;
      row.record.line = others_[i].line;
      for (std::size_t k = 0; k < keys_.size(); ++k)
        row.set(keys_[k], others_[i].key[k]);
      fill(others_[i], row);
      next(std::move(row));
    }
  }

 private:
  struct Other {
    std::int64_t line;
    std::vector<std::string> key, values;
  };

  static std::vector<std::size_t> places_of(
      const std::vector<std::string>& wanted,
      const std::vector<std::string>& names) {
    std::vector<std::size_t> places;
    places.reserve(wanted.size());
    for (const std::string& name : wanted)
      places.push_back(static_cast<std::size_t>(std::ranges::find(names, name) -
                                                names.begin()));
    return places;
  }
  static std::string key_of(const Other& other) {
    std::string key;
    for (const std::string& text : other.key)
      key.append(std::to_string(text.size())).append(":").append(text);
    return key;
  }
  // The step outlives the row's use of its texts only if it is copied.
  void fill(const Other& other, Row& row) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      row.set(slots_[i], other.values[i]);
  }

  std::string file_, delimiter_, how_;
  std::vector<std::string> on_, take_;
  RowKey key_;
  std::vector<std::size_t> keys_, slots_;  // that it makes
  std::size_t row_slots_ = 0;
  std::shared_ptr<const std::string> name_;
  std::vector<Other> others_;
  std::vector<bool> met_;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;
};

}  // namespace

extern const StepType join_step;
const StepType join_step = {
    .name = "join",
    .words =
        "Columns of another CSV file, which has a header and is held in "
        "memory, beside those of each row, as SQL joins: a row comes as "
        "often as the file has its key. Programs that use the model "
        "later read the file too.",
    .keys = {{"join", KeyKind::kText, "", "The file."},
             {"on", KeyKind::kColumns, "",
              "The columns of the key, in both; keys are compared as texts."},
             {"take", KeyKind::kColumns, "",
              "The columns of the file; the table has none of their names."},
             {.name = "how",
              .kind = KeyKind::kOneOf,
              .fallback = "\"left\"",
              .doc = "Rows without a key in the file stay (*left*, *outer*), "
                     "and rows of the file that none met come at the end "
                     "(*right*, *outer*); *inner*: neither.",
              .words = kJoinWays},
             {"delimiter", KeyKind::kDelimiter, "\",\"",
              "The character that separates fields of the file, or \\\\t."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<JoinStep>(settings, columns);
    }};

}  // namespace dl::vectorize
