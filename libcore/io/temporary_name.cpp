// Names of unfinished files, and removal of abandoned ones.

#include "libcore/io/temporary_name.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "libcore/io/digest.h"
#include "libcore/io/hex.h"

namespace dl::io {
namespace {

constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kPlaceDigits = 8;
constexpr std::time_t kDay = 24 * 60 * 60;

std::atomic<unsigned> next_number{0};

// Hash of the host's name and the name space of process numbers.
std::string place() {
  std::string text;
  utsname host{};
  if (::uname(&host) == 0) text = host.nodename;
  char processes[64];
  const ssize_t n =
      ::readlink("/proc/self/ns/pid", processes, sizeof processes);
  text += '\n';
  if (n > 0) text.append(processes, static_cast<std::size_t>(n));
  return hex(digest(std::as_bytes(std::span(text)))).substr(0, kPlaceDigits);
}

struct Parsed {
  std::string name, place;
  pid_t pid = 0;
  unsigned number = 0;
};

template <typename T>
bool take_number(std::string_view& text, T& number) {
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc();
}

// Nothing if temporary_name() did not make it.
std::optional<Parsed> parse(std::string_view file) {
  if (!file.starts_with('.') || !file.ends_with(kSuffix)) return std::nullopt;
  file.remove_suffix(kSuffix.size());
  const std::size_t dot = file.rfind('.');
  if (dot < 2) return std::nullopt;
  Parsed parsed;
  parsed.name = file.substr(1, dot - 1);
  std::string_view rest = file.substr(dot + 1);
  const std::size_t dash = rest.find('-');
  if (dash != kPlaceDigits) return std::nullopt;
  parsed.place = rest.substr(0, dash);
  rest.remove_prefix(dash + 1);
  if (!take_number(rest, parsed.pid) || parsed.pid <= 0 ||
      !rest.starts_with('-'))
    return std::nullopt;
  rest.remove_prefix(1);
  if (!take_number(rest, parsed.number) || !rest.empty()) return std::nullopt;
  return parsed;
}

std::size_t start_of_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

// Not inside a character of UTF-8.
std::string cut(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80)
    --end;
  return name.substr(0, end);
}

// A zombie has, though nobody may ever have asked for its status.
bool has_ended(pid_t pid) {
  if (::kill(pid, 0) != 0) return errno == ESRCH;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name = text.rfind(") ");  // may have blanks itself
  return name != std::string::npos && text.compare(name, 3, ") Z") == 0;
}

// A process number comes again, in a container always: what has our own, and a
// number that was not given out yet, is of a process before us.
bool is_abandoned(const Parsed& file, const std::string& path,
                  const std::string& here) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (file.place != here) return info.st_mtime < std::time(nullptr) - kDay;
  if (file.pid == ::getpid()) return file.number >= next_number.load();
  return has_ended(file.pid);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string& path) {
  const std::size_t name = start_of_name(path);
  return path.substr(0, name) + "." + cut(path.substr(name)) + "." + place() +
         "-" + std::to_string(::getpid()) + "-" +
         std::to_string(next_number.fetch_add(1)) + std::string(kSuffix);
}

void remove_abandoned(const std::string& path) {
  remove_abandoned(folder_of(path),
                   [name = cut(path.substr(start_of_name(path)))](
                       const std::string& other) { return other == name; });
}

void remove_abandoned(const std::string& folder,
                      const std::function<bool(const std::string&)>& wanted) {
  const std::string here = place();
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator();
       entries.increment(error)) {
    const auto file = parse(entries->path().filename().string());
    const std::string path = entries->path().string();
    if (file && wanted(file->name) && is_abandoned(*file, path, here))
      ::unlink(path.c_str());
  }
}

}  // namespace dl::io
