#include "libcore/cluster/master/launch/started_workers.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/protocol/message_fields.h"

namespace dl::cluster {

namespace {

constexpr double kLongestDelay = 30;  // seconds before another start
constexpr std::size_t kLongestLine = 4000, kLongestKey = 64;
constexpr double kLookSeconds = 0.01;  // at what all write, where that is much
constexpr std::chrono::milliseconds kMoreComes{1};
constexpr std::size_t kMuch = std::size_t{64} << 10;
constexpr std::size_t kMostRead = std::size_t{4} << 20;
constexpr int kLastLooks = 16;  // at what an ended process has written
constexpr int kUnstarted = 75;  // as a status: another time it may go well

// ssh's own status, and that of a remote command that a signal ended.
constexpr int kSshFailed = 255;

// Without the user.
std::string host_of(const std::string& place) {
  return place.substr(place.find('@') + 1);
}

// The beginning of workers' names; a number follows.
std::string stem_of(const WorkerPlace& place) {
  return place.host.empty() ? "local-" : host_of(place.host) + ":";
}

// Whether it has one of the keys, each a line, as what echoes its input writes.
bool tells(const std::string& keys, const std::string& line) {
  std::istringstream lines(keys);
  for (std::string key; std::getline(lines, key);)
    if (line.find(key) != line.npos) return true;
  return false;
}

}  // namespace

StartedWorkers::StartedWorkers(WorkerCommand command,
                               std::vector<WorkerPlace> places, int restarts,
                               Hooks hooks, Log log)
    : command_(std::move(command)),
      restarts_(restarts),
      hooks_(std::move(hooks)),
      log_(std::move(log)) {
  for (WorkerPlace& place : places) places_.push_back({std::move(place)});
}

StartedWorkers::~StartedWorkers() { finish(2); }

void StartedWorkers::start() {
  for (Place& place : places_) start(place);
}

void StartedWorkers::start(Place& place) {
  const int number = starts_++;
  const bool here = place.host.empty();
  place.name = stem_of(place) + std::to_string(here ? number + 1 : number);
  place.names.push_back(place.name);
  place.speaks = place.worked = false;
  place.due.reset();
  place.input = hooks_.input(place.name);
  place.process.emplace(
      ChildProcess::Order{words_of(command_, place, place.name),
                          environment_of(place), place.input, !here});
}

// Lines, each with its host before it; whole: nothing follows.  The rest of one
// that was cut is passed over.
void StartedWorkers::show(Place& place, const std::string& text, bool whole) {
  if (!text.empty() && place.lines.is_over(monotonic_seconds())) {
    place.lines.pass_over(
        static_cast<std::uint64_t>(std::ranges::count(text, '\n')));
    place.unshown.clear();
    place.is_cut = text.back() != '\n';
    return;
  }
  const std::string all = std::exchange(place.unshown, "") + text;
  std::size_t begin = 0;
  while (begin < all.size()) {
    const auto end = std::min(all.find_first_of("\r\n", begin), all.size());
    const bool ends = end < all.size();
    if (!place.is_cut && !ends && !whole && end - begin < kLongestLine) {
      place.unshown = all.substr(begin);
      return;
    }
    if (!std::exchange(place.is_cut, !ends) && end > begin)
      show_line(place, all.substr(begin, std::min(end - begin, kLongestLine)));
    begin = end + (ends ? 1 : 0);
  }
}

// No part of a key is shown, as one may go on where the line was cut.
void StartedWorkers::show_line(Place& place, const std::string& line) {
  const auto more = place.lines.tell(monotonic_seconds());
  if (!more) return;
  // It reaches a terminal.
  std::string shown = line;
  const bool cut = line.size() >= kLongestLine;
  if (cut) shown.resize(kLongestLine - kLongestKey);
  std::ranges::replace(shown, '\t', ' ');
  shown = printable(std::move(shown), kLongestLine);
  if (cut) shown += " (the rest of this line is not shown)";
  if (tells(place.input, line)) shown = "(a line with a key, not shown)";
  hooks_.show(host_of(place.host) + ": " + shown + *more);
}

// A worker that writes much, or whatever starts it, waits until that is read:
// so much of it is at a time as keeps nobody else waiting.
std::string StartedWorkers::read_much(Place& place, double until) {
  std::string said = place.process->output();
  if (said.size() < kMuch) return said;
  for (std::size_t read = said.size();
       !said.empty() && read < kMostRead && monotonic_seconds() < until;
       read += said.size()) {
    show(place, said, false);
    said = place.process->output(kMoreComes);
  }
  return said;
}

std::vector<StartedWorkers::Ended> StartedWorkers::reap() {
  std::vector<Ended> result;
  const double until = monotonic_seconds() + kLookSeconds;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (!place.process) continue;
    const pid_t pid = place.process->pid();
    const auto end = place.process->take_end();
    std::string said = read_much(place, until);
    // Others that it left may write for ever.
    for (int look = 0; end && !said.empty() && look < kLastLooks; ++look) {
      show(place, said, false);
      said = place.process->output();
    }
    show(place, said, end.has_value());
    if (!end) continue;
    place.process.reset();
    hooks_.gone(place.name);
    result.push_back({{*end}, place.host.empty() ? pid : 0, place.name, i});
  }
  return result;
}

StartedWorkers::Place* StartedWorkers::find(const std::string& name) {
  const auto found = std::ranges::find(places_, name, &Place::name);
  return found == places_.end() ? nullptr : &*found;
}

void StartedWorkers::note_member(const std::string& name, bool silent) {
  Place* const place = find(name);
  if (place == nullptr) return;
  place->speaks = !silent;
  place->ever_joined = true;
}

void StartedWorkers::note_work(const std::string& name) {
  if (Place* place = find(name)) place->worked = true;
}

// The last two are a shell's for a command that is not there.  Keys are ours,
// and others by then.
bool StartedWorkers::is_final(int status) {
  static const std::set<int> kFinal = {64, 65, 66, 69, 76, 78, 126, 127};
  return kFinal.contains(status);
}

void StartedWorkers::replace(const Ended& ended) {
  Place& place = places_[ended.place];
  const std::string who =
      place.host.empty() ? "a worker of this host" : host_of(place.host);
  const bool first = !place.ever_joined && place.failures == 0;
  const bool unanswered =
      !place.ever_joined && ended.status == kSshFailed && !ended.here();
  place.last = ended.how;
  place.failures = place.worked ? 1 : place.failures + 1;
  place.given_up = place.failures > restarts_ || is_final(ended.status);
  if (place.given_up)
    log_(Level::kWarning,
         who + (unanswered ? " does not answer" : ": its worker " + ended.how) +
             "; it is given up");
  else if (first && unanswered)
    log_(Level::kWarning, who +
                              " does not answer; going on without it as long "
                              "as it does not");
  else if (first)
    log_(Level::kWarning, who + ": its worker " + ended.how +
                              " before it joined; it is started again");
  if (place.given_up) return;
  ++place.restarts;
  // A process of this host that dies does so of its work, not of the way to it.
  const double delay =
      place.host.empty() || place.failures == 1
          ? 0
          : std::min(kLongestDelay, double(1U << std::min(place.failures, 10)));
  place.due = monotonic_seconds() + delay;
}

void StartedWorkers::start_due() {
  const double now = monotonic_seconds();
  for (Place& place : places_) {
    if (!place.due || *place.due > now) continue;
    try {
      start(place);
    } catch (const Error& error) {  // too many processes, say: others go on
      hooks_.gone(place.name);
      replace({{kUnstarted, std::string("was not started: ") + error.what()},
               0,
               place.name,
               static_cast<std::size_t>(&place - places_.data())});
    }
  }
}

std::vector<std::string> StartedWorkers::running() const {
  std::vector<std::string> names;
  for (const Place& place : places_)
    if (place.process) names.push_back(place.name);
  return names;
}

bool StartedWorkers::has_started(const std::string& name) const {
  return std::ranges::any_of(places_, [&](const Place& place) {
    return std::ranges::count(place.names, name) > 0;
  });
}

bool StartedWorkers::may_be_called(const std::string& name) const {
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  if (end == name.size()) return false;
  return std::ranges::any_of(places_, [&](const Place& place) {
    return name.substr(0, end) == stem_of(place);
  });
}

bool StartedWorkers::is_running(const std::string& name,
                                std::int64_t pid) const {
  return std::ranges::any_of(places_, [&](const Place& place) {
    return place.name == name && place.process &&
           (!place.host.empty() || place.process->pid() == pid);
  });
}

bool StartedWorkers::others_live(std::size_t place) const {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (i != place && !places_[i].given_up) return true;
  return false;
}

std::int64_t StartedWorkers::expected() const {
  return std::ranges::count_if(places_, [](const Place& place) {
    return !place.given_up && (place.ever_joined || place.failures == 0);
  });
}

bool StartedWorkers::all_given_up() const {
  return std::ranges::all_of(places_, &Place::given_up);
}

void StartedWorkers::wait_for_all(double seconds) noexcept {
  const double end = monotonic_seconds() + seconds;
  while (true) {
    try {
      reap();
    } catch (...) {  // out of memory: the kernel reaps them with us
      return;
    }
    const bool over = std::ranges::none_of(
        places_, [](const Place& place) { return place.process.has_value(); });
    if (over || monotonic_seconds() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void StartedWorkers::finish(double seconds) noexcept {
  const auto end_all = [this](int signal, const auto& which) {
    for (Place& place : places_) {
      if (!place.process || !which(place)) continue;
      place.process->close_input();
      place.process->send(signal);
    }
  };
  const auto all = [](const Place&) { return true; };
  end_all(SIGTERM, [](const Place& place) { return !place.speaks; });
  // The way to another host may be cut off.
  const double elsewhere = std::min(seconds, 2.0);
  wait_for_all(elsewhere);
  end_all(SIGTERM, [](const Place& place) { return !place.host.empty(); });
  wait_for_all(seconds - elsewhere);
  end_all(SIGTERM, all);
  wait_for_all(3);
  end_all(SIGKILL, all);
  wait_for_all(2);
}

Json StartedWorkers::hosts(
    const std::map<std::string, std::int64_t>& batches) const {
  std::map<std::string, Json> hosts;
  for (const Place& place : places_) {
    if (place.host.empty()) continue;
    Json& host = hosts[host_of(place.host)];
    if (host.is_null())
      host = {{"host", host_of(place.host)},
              {"workers", 0},
              {"joined", 0},
              {"batches", 0},
              {"restarts", 0},
              {"given_up", 0},
              {"last_failure", ""}};
    const auto add = [&host](const char* key, std::int64_t count) {
      host[key] = host[key].get<std::int64_t>() + count;
    };
    add("workers", 1);
    add("joined", place.ever_joined ? 1 : 0);
    add("restarts", place.restarts);
    add("given_up", place.given_up ? 1 : 0);
    for (const std::string& name : place.names)
      if (const auto found = batches.find(name); found != batches.end())
        add("batches", found->second);
    if (!place.last.empty()) host["last_failure"] = place.last;
  }
  Json result;
  for (auto& [name, host] : hosts) result.push_back(std::move(host));
  return result;
}

}  // namespace dl::cluster
