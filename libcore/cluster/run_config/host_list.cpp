// Parsing of --hosts.

#include "libcore/cluster/run_config/host_list.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::cluster {
namespace {

constexpr std::size_t kMostWorkers = 4096;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

// To the command that starts a worker, one that begins so would be an option.
// Host files of MPI have words such as slots=2 after a host.
bool is_host(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '@' &&
         name.back() != '@' && std::ranges::none_of(name, [](unsigned char c) {
           return c <= ' ' || c == 0x7f || c == '*' || c == '=';
         });
}

// "h1", "h2*4"
void add(std::string_view entry, const std::string& place,
         std::vector<std::string>& hosts) {
  const auto star = entry.find('*');
  const std::string_view name = entry.substr(0, star);
  std::size_t count = 1;
  bool good = is_host(name);
  if (star != entry.npos) {
    const char* const end = entry.data() + entry.size();
    const auto [rest, error] =
        std::from_chars(entry.data() + star + 1, end, count);
    good = good && error == std::errc{} && rest == end && count > 0;
  }
  if (!good)
    throw Error{Code::kUsage, place + ": want HOST or HOST*COUNT, got '" +
                                  displayed(entry) + "'"};
  if (hosts.size() + count > kMostWorkers)
    throw Error{Code::kUsage, place + ": more than " +
                                  std::to_string(kMostWorkers) + " workers"};
  hosts.insert(hosts.end(), count, std::string(name));
}

void add_file(const std::string& path, std::vector<std::string>& hosts) {
  const auto source = io::open_file(path);
  const std::string text = io::read_all(*source, kMaxFileBytes);
  refuse_wide_text(text, "'" + displayed(path) + "'", Code::kUsage);
  std::istringstream lines{std::string(without_byte_order_mark(text))};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    std::ranges::replace(line, ',', ' ');
    std::istringstream entries(line);
    for (std::string entry; entries >> entry;)
      add(entry, "'" + displayed(path) + "', line " + std::to_string(number),
          hosts);
  }
}

}  // namespace

std::vector<std::string> parse_hosts(const std::string& text) {
  std::vector<std::string> hosts;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');)
    if (entry.starts_with('@'))
      add_file(entry.substr(1), hosts);
    else
      add(entry, "--hosts", hosts);
  if (hosts.empty())
    throw Error{Code::kUsage,
                "--hosts: '" + displayed(text) + "' names no host"};
  return hosts;
}

}  // namespace dl::cluster
