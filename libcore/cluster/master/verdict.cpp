#include "libcore/cluster/master/verdict.h"

#include "libcore/cluster/store/divergence.h"

namespace dl::cluster {

void judge(const MasterOptions& options, const Plan& plan,
           const RunStore& store, const RunState& state, Outcome& outcome) {
  const HeldOut held_out{plan.settings.metric,
                         plan.evaluation ? plan.evaluation->examples() : 0,
                         plan.loss_of_chance};
  const std::string remedy = divergence_remedy(plan.settings.mode);
  if (const std::string nothing = learnt_nothing(state, held_out);
      !nothing.empty())
    outcome.remark = "nothing was learnt: " + nothing + "; " +
                     remedy_of_nothing(state, held_out, plan.settings.mode) +
                     ", or look at the data's labels";
  const std::string why = ends_badly(state, held_out);
  if (why.empty()) return;
  std::string text = "training ended badly: " + why;
  if (!plan.keep_best)
    text += "; '" + options.output + "' is what it ended with";
  const std::string better =
      store.where_model(better_version(state, plan.settings.metric));
  if (!better.empty()) text += "; " + better;
  text += "; " + remedy;
  if (limits_of(options).on_divergence != OnDivergence::kIgnore &&
      !plan.keep_best)
    outcome.verdict = Error{Code::kDiverged, text};
  else
    outcome.remark = text;
}

std::string lack_of_model(const MasterOptions& options, const Report& report,
                          const RunState& state) {
  const std::string lacking = report.lacking();
  if (lacking.empty() || state.setbacks > 0) return "";
  return "the model lacks much of what was learnt: " + lacking +
         "; the loss of training is that of workers, which have it; " +
         (options.sharing.threshold == SharingOptions().threshold
              ? "take more epochs"
              : "take the default --threshold, or more epochs");
}

}  // namespace dl::cluster
