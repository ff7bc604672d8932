// Options of a tool: declared once, they make the parser, --help, the
// environment variables and, through scripts, the checks of pages and
// completion.
//
// A value comes from the command line, else from the environment
// (DL_SHARD_SHARDS for --shards of dl-shard), else it is the default.
// No abbreviations; --name=value and --name value; operands in any place.

#ifndef DL_LIBCORE_CLI_OPTIONS_H_
#define DL_LIBCORE_CLI_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dl::cli {

class Options {
 public:
  explicit Options(std::string tool);
  ~Options();

  // names: "shards,n" or "shards".  metavar: "COUNT".  help: lower case, no
  // full stop; a non-empty default is added to it.  *value holds the default.
  // Integers are decimal and must fit; throws Error{kUsage} when parsed:
  // "--shards: want an integer, got '3x'".
  void add(const char* names, std::string* value, const char* metavar,
           const char* help);
  void add(const char* names, std::int64_t* value, const char* metavar,
           const char* help);
  void add(const char* names, std::uint64_t* value, const char* metavar,
           const char* help);
  void add(const char* names, double* value, const char* metavar,
           const char* help);
  // May be given several times.
  void add(const char* names, std::vector<std::string>* value,
           const char* metavar, const char* help);
  // Takes no value.
  void flag(const char* names, bool* value, const char* help);
  // 64M, 1Gi, 1000.
  void size(const char* names, std::uint64_t* value, const char* metavar,
            const char* help);
  // 30s, 5m, 250ms, 2h; a bare number is refused unless it is 0.
  void duration(const char* names, std::chrono::milliseconds* value,
                const char* metavar, const char* help);
  // Starts a group of options in --help.
  void section(const char* title);
  // Where what other programs have options of these names for is said here:
  // who gives one is told, "unrecognised option '--lr': " + where.
  void elsewhere(const std::vector<std::string>& names,
                 const std::string& where);
  // Operands.  Without this call, operands are refused.
  void rest(std::vector<std::string>* value);

  // Whether the command line or the environment set it.
  bool given(const std::string& name) const;
  // Options of these names, or of a section, have no effect in this run: if the
  // command line gives one, throws Error{kUsage}, "--header " + why.  Settings
  // of the environment are meant for other runs as well, and skipped.
  void refuse(const std::vector<std::string>& names,
              const std::string& why) const;
  void refuse_section(const std::string& title, const std::string& why) const;
  // Whether the command line gives one of these, or of a section.
  bool commands(const std::vector<std::string>& names) const;
  bool commands_section(const std::string& title) const;

  // An empty value on the command line, as of a variable of the shell that is
  // not set, would count as none: throws Error{kUsage}, but for options of
  // these names.
  void refuse_empty(const std::vector<std::string>& but) const;

  // Options set in the environment, as arguments: "--shards=7", "--force".
  std::vector<std::string> from_environment() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// "64M" -> 64000000, "1Ki" -> 1024.  Throws Error{kUsage}.
std::uint64_t parse_size(const std::string& text);
// "5m" -> 300000.  Throws Error{kUsage}.
std::chrono::milliseconds parse_duration(const std::string& text);

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_OPTIONS_H_
