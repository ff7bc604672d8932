#include "libcore/cluster/master/launch/worker_command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

namespace dl::cluster {

namespace {

// Without what dl-worker has as its default, so that `remote` may say other.
std::vector<std::string> arguments_of(const WorkerCommand& command,
                                      const WorkerPlace& place,
                                      const std::string& name) {
  const bool here = place.host.empty();
  std::vector<std::string> words = {
      "--master", here ? command.local_endpoint : command.endpoint, "--name",
      name, "--exit-on-stdin-eof"};
  const auto unless_default = [&](const char* option, const std::string& value,
                                  const char* usual) {
    if (value != usual) words.insert(words.end(), {option, value});
  };
  unless_default("--device", command.device, "cpu");
  unless_default("--precision", command.precision, "float32");
  unless_default("--threads",
                 std::to_string(here ? command.local_threads : command.threads),
                 "0");
  words.emplace_back(command.quiet ? "--quiet" : "--verbose");
  if (command.keys) words.insert(words.end(), {"--keys", "-"});
  if (command.insecure) words.emplace_back("--insecure");
  return words;
}

// As every shell takes it for one word.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') ||
           std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

std::array<std::string, 2> ranks_of(const WorkerPlace& place) {
  return {"DL_LOCAL_RANK=" + std::to_string(place.local_rank),
          "DL_LOCAL_SIZE=" + std::to_string(place.local_size)};
}

}  // namespace

std::string program_beside(const std::string& name) {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size > 0 && size < static_cast<ssize_t>(path.size())) {
    std::string beside(path.data(), static_cast<std::size_t>(size));
    beside.resize(beside.rfind('/') + 1);
    beside += name;
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  return name;
}

std::vector<WorkerPlace> worker_places(int local,
                                       const std::vector<std::string>& hosts) {
  std::vector<WorkerPlace> places(static_cast<std::size_t>(local));
  for (const std::string& host : hosts) places.push_back({host});
  std::map<std::string, int> counts;
  for (WorkerPlace& place : places) place.local_rank = counts[place.host]++;
  for (WorkerPlace& place : places) place.local_size = counts[place.host];
  return places;
}

// ssh hands one text to the shell of the user there, of whatever kind that is;
// of its environment little is left.
std::vector<std::string> words_of(const WorkerCommand& command,
                                  const WorkerPlace& place,
                                  const std::string& name) {
  const std::vector<std::string> arguments = arguments_of(command, place, name);
  std::vector<std::string> words;
  if (place.host.empty()) {
    words = {program_beside("dl-worker")};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  std::istringstream rsh(command.rsh);
  for (std::string word; rsh >> word;) words.push_back(word);
  words.push_back(place.host);
  std::string text = "env";
  for (const std::string& rank : ranks_of(place)) text += " " + rank;
  text += " " + (command.remote.empty() ? quoted(program_beside("dl-worker"))
                                        : command.remote);
  for (const std::string& argument : arguments) text += " " + quoted(argument);
  words.push_back(text);
  return words;
}

std::vector<std::string> environment_of(const WorkerPlace& place) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("DL_WORKER_") &&
        !variable.starts_with("DL_LOCAL_"))
      result.emplace_back(variable);
  }
  for (const std::string& rank : ranks_of(place)) result.push_back(rank);
  return result;
}

}  // namespace dl::cluster
