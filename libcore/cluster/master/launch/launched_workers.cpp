#include "libcore/cluster/master/launch/launched_workers.h"

#include <chrono>
#include <optional>
#include <unordered_map>

#include "libcore/base/clock.h"
#include "libcore/base/number_format.h"
#include "libcore/base/readable.h"
#include "libcore/cluster/master/members/worker_wait.h"
#include "libcore/cluster/protocol/endpoint.h"

namespace dl::cluster {

namespace {

constexpr double kProcessesEvery = 0.05;  // seconds, at the processes

// The address at which it listens may be that of one network, or of all.
std::string from_this_host(const std::string& endpoint, const std::string& bind,
                           bool one_network) {
  const bool everywhere =
      !one_network && (bind.empty() || bind.starts_with("tcp://*:"));
  if (!tcp_address(endpoint) || !everywhere) return endpoint;
  return tcp_endpoint("127.0.0.1" + endpoint.substr(endpoint.rfind(':')));
}

WorkerCommand command_for(const MasterOptions& options,
                          const RouterSocket& socket, const std::string& told,
                          int local_threads) {
  WorkerCommand command;
  command.local_endpoint =
      from_this_host(socket.endpoint(), options.bind, options.network.given());
  command.endpoint = told;
  command.rsh = options.rsh;
  command.remote = options.remote;
  command.device = options.device;
  command.precision = options.precision;
  command.local_threads = local_threads;
  command.threads = static_cast<int>(options.threads);
  command.keys = !socket.public_key().empty();
  command.insecure = options.security.insecure;
  command.quiet = !options.detail;
  return command;
}

}  // namespace

LaunchedWorkers::LaunchedWorkers(const MasterOptions& options,
                                 RouterSocket& socket, const std::string& told,
                                 int local_threads, const Log& log)
    : options_(options),
      socket_(socket),
      log_(log),
      workers_(
          command_for(options, socket, told, local_threads),
          worker_places(static_cast<int>(options.local), options.hosts_listed),
          static_cast<int>(options.restarts), hooks(), log) {
  workers_.start();
}

StartedWorkers::Hooks LaunchedWorkers::hooks() {
  StartedWorkers::Hooks hooks;
  hooks.input = [this](const std::string& name) {
    if (socket_.public_key().empty()) return std::string();
    const WorkerKeys keys = socket_.admit_once(name);
    keys_[name] = keys.own.public_key;
    return keys.server + "\n" + keys.own.secret_key + "\n";
  };
  hooks.gone = [this](const std::string& name) {
    if (const auto key = keys_.find(name); key != keys_.end())
      socket_.retire(keys_.extract(key).mapped());
  };
  hooks.show = [this](const std::string& line) {
    if (options_.show) options_.show(line);
  };
  return hooks;
}

// Notes which workers have joined, and have got on with their work.
void LaunchedWorkers::note_standing(RunContext& context) {
  std::unordered_map<std::string, const Member*> members;
  for (const Member* member : context.members.present())
    members.emplace(member->hello.name, member);
  for (const std::string& name : workers_.running()) {
    const auto found = members.find(name);
    if (found == members.end()) continue;
    const Member* const member = found->second;
    workers_.note_member(name, member->silent);
    if (member->examples > 0 ||
        member->progress > member->first_progress.value_or(member->progress))
      workers_.note_work(name);
  }
}

std::vector<StartedWorkers::Ended> LaunchedWorkers::take_ended(
    Coordinator* coordinator) {
  std::vector<StartedWorkers::Ended> all = workers_.reap();
  if (coordinator != nullptr)
    for (const StartedWorkers::Ended& ended : all)
      coordinator->lost_process(ended.name, ended.pid, "it " + ended.how,
                                monotonic_seconds());
  return all;
}

bool LaunchedWorkers::reserves(const Hello& hello,
                               const std::string& key) const {
  const std::string name = default_name(hello);
  if (!workers_.may_be_called(name)) return false;
  if (!workers_.is_running(name, hello.pid)) return true;
  const auto own = keys_.find(name);
  return own != keys_.end() && own->second != key;
}

void LaunchedWorkers::let_go(Coordinator& coordinator) {
  take_ended(&coordinator);
}

// Where none has ever come.
std::string LaunchedWorkers::hint() const {
  return options_.hosts_listed.empty()
             ? ""
             : "; where it was no answer, --network or --advertise tells them "
               "an address of this host that they reach";
}

std::optional<RouterSocket::Incoming> LaunchedWorkers::first_word(
    SocketLink& link, double wait) {
  const double end = monotonic_seconds() + wait;
  double said = monotonic_seconds();
  while (true) {
    if (readable(options_.stop)) return std::nullopt;
    if (auto incoming = link.receive(kPause, {})) return incoming;
    look_after(nullptr, nullptr);
    const double now = monotonic_seconds();
    if (now >= end)
      throw Error{Code::kUnavailable,
                  "waited " + format("%.1f s", wait) +
                      ", and no worker has come; raise --wait if that is too "
                      "short" +
                      hint()};
    if (now - said < kSayWaiting) continue;
    said = now;
    log_(Level::kInfo, "waiting: no worker has come yet, " +
                           format("%.0f s", end - now) + " left");
  }
}

// Others may be able to do what one cannot.
bool LaunchedWorkers::anybody_but(const StartedWorkers::Ended& ended,
                                  RunContext* context) const {
  return workers_.others_live(ended.place) ||
         (context != nullptr && !context->members.counted().empty());
}

void LaunchedWorkers::look_after(Coordinator* coordinator,
                                 RunContext* context) {
  const double now = monotonic_seconds();
  if (now < next_look_) return;
  next_look_ = now + kProcessesEvery;
  if (context != nullptr) note_standing(*context);
  for (const StartedWorkers::Ended& ended : take_ended(coordinator)) {
    if (ended.here() && StartedWorkers::is_final(ended.status) &&
        !anybody_but(ended, context))
      throw Error{static_cast<Code>(ended.status),
                  "a local worker " + ended.how + "; its message is above"};
    workers_.replace(ended);
  }
  if (workers_.all_given_up() &&
      (context == nullptr || context->members.present().empty()))
    throw Error{Code::kUnavailable,
                "no worker lives of those that were started; their messages "
                "are above" +
                    (context == nullptr ? hint() : "")};
  workers_.start_due();
  if (context != nullptr && options_.min_workers == 0)
    context->absent = started_workers(options_) - workers_.expected();
}

}  // namespace dl::cluster
