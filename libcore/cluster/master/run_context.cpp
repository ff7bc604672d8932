#include "libcore/cluster/master/run_context.h"

#include <utility>

#include "libcore/cluster/master/epoch/phase.h"

namespace dl::cluster {

RunContext::RunContext(Settings the_settings, Limits the_limits,
                       std::string the_run, std::uint64_t the_incarnation,
                       EventLog& the_events, MasterLink& the_link, Log the_log)
    : settings(std::move(the_settings)),
      limits(the_limits),
      run(std::move(the_run)),
      incarnation(the_incarnation),
      events(the_events),
      link(the_link),
      log(std::move(the_log)),
      update_check(settings.sharing.threshold) {}

RunContext::~RunContext() = default;

void RunContext::note_exchange(const Member& member, const Json& exchange) {
  report.exchange.take(member.number, ExchangeStats::from_json(exchange));
  write_exchange(member.number, false);
}

void RunContext::write_exchange(std::uint64_t worker, bool all) {
  auto event = report.exchange.event(worker, now, all);
  if (!event) return;
  (*event)["epoch"] = state.epoch;
  events.write("exchange", std::move(*event));
}

void RunContext::fail(Error error) {
  if (!failure) failure.emplace(std::move(error));
}

}  // namespace dl::cluster
