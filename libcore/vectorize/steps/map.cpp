// The step map: values in place of others.

#include <map>
#include <optional>
#include <string>

#include "libcore/base/error.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {
namespace {

class MapStep : public ColumnStep {
 public:
  MapStep(const RecipeSettings& settings, StepColumns& columns)
      : from_(columns.need(settings.text("map")).slot),
        to_(columns.make(
            settings.has("into") ? settings.text("into") : settings.text("map"),
            ValueType::kAny)) {
    for (const auto& [value, text] : settings.text_map("values"))
      values_.emplace(value, text);
    if (settings.has("else")) else_ = settings.scalar("else");
  }

 private:
  void change(Row& row) override {
    const std::string_view text = row.cells[from_];
    if (const auto found = values_.find(text); found != values_.end())
      row.set(to_, found->second);
    else if (else_ && !text.empty())
      row.set(to_, *else_);
    else
      row.cells[to_] = text;
  }

  std::size_t from_, to_;
  std::map<std::string, std::string, std::less<>> values_;
  std::optional<std::string> else_;  // none: others stay
};

}  // namespace

extern const StepType map_step;
const StepType map_step = {
    .name = "map",
    .words =
        "Values in place of others, and of a missing one, which is "
        "called \"\".",
    .keys = {{"map", KeyKind::kText, "", "The column."},
             {"values", KeyKind::kTextMap, "",
              "The new value of each, by the old one; \"\" makes it missing."},
             {.name = "else",
              .kind = KeyKind::kScalar,
              .doc = "The value of all others that are there; without it they "
                     "stay."},
             {.name = "into",
              .doc = "The column to make, in place of the same one."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<MapStep>(settings, columns);
    }};

}  // namespace dl::vectorize
