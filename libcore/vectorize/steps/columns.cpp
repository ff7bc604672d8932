// The steps drop, keep and rename, which change no row.

#include <map>

#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {

extern const StepType drop_step, keep_step, rename_step;
const StepType drop_step = {
    .name = "drop",
    .words = "All columns but these.",
    .keys = {{"drop", KeyKind::kColumns, "", "The columns."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      for (const std::string& name : settings.list("drop"))
        columns.remove(name);
      return nullptr;
    }};
const StepType keep_step = {
    .name = "keep",
    .words = "These columns alone.",
    .keys = {{"keep", KeyKind::kColumns, "", "The columns."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      columns.keep(settings.list("keep"));
      return nullptr;
    }};
const StepType rename_step = {
    .name = "rename",
    .words = "Other names of columns, which no other column has.",
    .keys = {{"rename", KeyKind::kTextMap, "",
              "The new name of each, by the old one."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      columns.rename(settings.text_map("rename"));
      return nullptr;
    }};

}  // namespace dl::vectorize
