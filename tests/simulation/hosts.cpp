// Times of simulated hosts and lines.

#include "tests/simulation/hosts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/philox.h"

namespace simulated {

namespace {

constexpr std::uint64_t kHostStream = 0x686f7374, kBatchStream = 0x62617463,
                        kLatencyStream = 0x6c617465;

double draw(const HostModel& model, double spread,
            std::initializer_list<std::uint64_t> what) {
  if (spread == 0) return 1;
  return std::exp(spread * dl::Philox(model.seed, dl::mix(what)).normal());
}

}  // namespace

dl::Json HostModel::to_json() const {
  return {{"workers", workers},
          {"seconds", seconds},
          {"host_spread", host_spread},
          {"batch_spread", batch_spread},
          {"stragglers", stragglers},
          {"slower", slower},
          {"gbit", gbit},
          {"master_gbit", master_gbit > 0 ? master_gbit : gbit},
          {"latency", latency},
          {"latency_spread", latency_spread},
          {"master_seconds", master_seconds},
          {"timer_slack", timer_slack},
          {"seed", seed}};
}

double seconds_of_batch(const HostModel& model, std::size_t worker,
                        std::uint64_t count) {
  const bool slow =
      static_cast<std::int64_t>(worker) > model.workers - model.stragglers;
  return model.seconds * (slow ? model.slower : 1) *
         draw(model, model.host_spread, {kHostStream, worker}) *
         draw(model, model.batch_spread, {kBatchStream, worker, count});
}

double Line::pass(double from, double seconds) {
  free_ = std::max(free_, from) + seconds;
  return free_;
}

Network::Network(const HostModel& model, EventQueue& queue)
    : model_(model), queue_(queue) {
  constexpr double kBytes = 1e9 / 8;  // of a gigabit
  hosts_.resize(static_cast<std::size_t>(model.workers) + 1);
  for (Host& host : hosts_) {
    host.bytes_per_second = kBytes * model.gbit;
    host.entered.resize(hosts_.size());
  }
  if (model.master_gbit > 0)
    hosts_[kMaster].bytes_per_second = kBytes * model.master_gbit;
}

void Network::send(std::size_t from, std::size_t to, std::size_t bytes,
                   std::function<void()> arrived) {
  Host& sender = hosts_[from];
  sender.out += bytes;
  hosts_[to].in += bytes;
  const double way_out = static_cast<double>(bytes) / sender.bytes_per_second;
  const double sent = sender.line_out.pass(queue_.now(), way_out);
  const double latency = model_.latency * draw(model_, model_.latency_spread,
                                               {kLatencyStream, ++messages_});
  // None overtakes another one on its way.
  double& entered = sender.entered[to];
  entered = std::max(entered, sent - way_out + latency);
  const auto enter = [this, to, bytes, last = entered + way_out,
                      arrived = std::move(arrived)] {
    Host& host = hosts_[to];
    const double way_in = static_cast<double>(bytes) / host.bytes_per_second;
    queue_.at(std::max(host.line_in.pass(queue_.now(), way_in), last), arrived);
  };
  queue_.at(entered, enter);
}

}  // namespace simulated
