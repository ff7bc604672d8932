// Parsing and triggering of failpoints.

#include "libcore/base/failpoint.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>

#include "libcore/base/error.h"

namespace dl {
namespace {

#ifdef DL_FAILPOINTS
constexpr bool kBuiltIn = true;
#else
constexpr bool kBuiltIn = false;
#endif

struct Failpoint {
  std::string name, action;
  long at = 1;            // 0: at every visit
  long milliseconds = 0;  // of sleep
  long number = -1;       // of the place; -1: any
  std::atomic<long> visits = 0;
};

[[noreturn]] void malformed(const std::string& item) {
  throw Error{Code::kUsage,
              "DL_FAILPOINTS: want NAME=kill|exit|stop|spin|error|nan[@N|#N] "
              "or NAME=sleep:TIMEms, got '" +
                  item + "'"};
}

void parse_item(const std::string& item, std::deque<Failpoint>& points) {
  std::size_t equals = item.find('=');
  if (equals == std::string::npos) malformed(item);
  Failpoint& point = points.emplace_back();
  point.name = item.substr(0, equals);
  point.action = item.substr(equals + 1);
  if (std::size_t at = point.action.find('@'); at != std::string::npos) {
    char* end = nullptr;
    point.at = std::strtol(point.action.c_str() + at + 1, &end, 10);
    if (*end != '\0' || point.at < 1) malformed(item);
    point.action.resize(at);
  }
  if (std::size_t at = point.action.find('#'); at != std::string::npos) {
    char* end = nullptr;
    point.number = std::strtol(point.action.c_str() + at + 1, &end, 10);
    if (*end != '\0' || point.number < 0) malformed(item);
    point.action.resize(at);
    point.at = 0;
  }
  if (point.action.starts_with("sleep:")) {
    const char* text = point.action.c_str() + 6;
    char* end = nullptr;
    point.milliseconds = std::strtol(text, &end, 10);
    if (end == text || std::string(end) != "ms" || point.milliseconds < 0)
      malformed(item);
    point.at = 0;
    return;
  }
  for (const char* known :
       {"kill", "exit", "stop", "term", "spin", "error", "nan"})
    if (point.action == known) return;
  malformed(item);
}

// Read once; the environment of a process does not change.
std::deque<Failpoint> parse() {
  std::deque<Failpoint> points;
  const char* text = kBuiltIn ? std::getenv("DL_FAILPOINTS") : nullptr;
  if (text != nullptr) {
    std::string rest = text;
    while (!rest.empty()) {
      std::size_t end = rest.find(';');
      parse_item(rest.substr(0, end), points);
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
  }
  return points;
}

bool act(const Failpoint& point) {
  if (point.action == "nan") return true;
  if (point.milliseconds > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(point.milliseconds));
  if (point.action == "kill") kill(getpid(), SIGKILL);
  if (point.action == "term") kill(getpid(), SIGTERM);
  if (point.action == "stop") kill(getpid(), SIGSTOP);
  if (point.action == "exit") _exit(static_cast<int>(Code::kBug));
  if (point.action == "error")
    throw Error{Code::kIo, "failpoint '" + point.name + "'"};
  for (std::atomic<bool> forever = point.action == "spin"; forever;) {
  }
  return false;
}

}  // namespace

bool failpoint(const char* name) { return failpoint(name, -1); }

bool failpoint(const char* name, std::int64_t number) {
  static std::deque<Failpoint> points = parse();
  for (Failpoint& point : points)
    if (point.name == name && (point.number < 0 || point.number == number) &&
        (++point.visits == point.at || point.at == 0))
      return act(point);
  return false;
}

}  // namespace dl
