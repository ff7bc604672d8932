// The state of Options: shared by the declaring and the parsing side.

#ifndef DL_LIBCORE_CLI_OPTIONS_STATE_H_
#define DL_LIBCORE_CLI_OPTIONS_STATE_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/cli/options.h"

namespace dl::cli {

enum class Origin { kDefault, kEnvironment, kCommandLine };

struct Option {
  std::string name;
  char letter = '\0';  // short form, or 0
  std::string metavar, help, section;
  std::string shown;  // the value now, as text
  bool takes_value = true;
  bool many = false;
  Origin origin = Origin::kDefault;
  // Throws Error{kUsage}, to which the caller adds the option's name.
  std::function<void(const std::string&)> set;
};

struct Options::State {
  std::string tool;  // "dl-shard"
  std::string section;
  std::deque<Option> options;  // references stay valid
  std::vector<std::string>* rest = nullptr;
  std::map<std::string, std::string> elsewhere;  // where, by name

  Option& add(std::pair<std::string, char> names, const char* metavar,
              const char* help, std::string shown,
              std::function<void(const std::string&)> set);
  const Option* find(const std::string& name) const;
  std::vector<std::string> in_section(const std::string& title) const;

  // Command line first, then the environment for what is still unset.
  // Throws Error{kUsage}.
  void parse(int argc, char** argv);

  std::string environment_name(const Option& option) const;
  std::string help_text() const;    // the options, by section
  std::string config_text() const;  // "name = value  # origin" a line
};

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_OPTIONS_STATE_H_
