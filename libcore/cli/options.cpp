// Options over Boost.Program_options, without its guessing.

#include "libcore/cli/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/cli/options_state.h"

namespace dl::cli {
namespace {

// "shards,n" -> {"shards", 'n'}
std::pair<std::string, char> split_names(const char* names) {
  std::string text = names;
  std::size_t comma = text.find(',');
  if (comma == std::string::npos) return {text, '\0'};
  return {text.substr(0, comma), text.at(comma + 1)};
}

template <typename T>
T parse_number(const std::string& text, const char* what) {
  T value{};
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc{} || end != last)
    throw Error{Code::kUsage,
                std::string("want ") + what + ", got '" + text + "'"};
  return value;
}

std::string shortest(double value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

struct Unit {
  const char* name;
  double factor;
};

// A number followed by one of `units`; std::nullopt-like NaN if it is neither.
double with_unit(const std::string& text, std::initializer_list<Unit> units) {
  double number = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || !(number >= 0)) return std::nan("");
  for (const Unit& unit : units)
    if (std::string_view(end, static_cast<std::size_t>(last - end)) ==
        unit.name)
      return number * unit.factor;
  return std::nan("");
}

}  // namespace

std::uint64_t parse_size(const std::string& text) {
  double bytes = with_unit(text, {{"", 1},
                                  {"k", 1e3},
                                  {"M", 1e6},
                                  {"G", 1e9},
                                  {"Ki", 0x1p10},
                                  {"Mi", 0x1p20},
                                  {"Gi", 0x1p30}});
  if (!(bytes <= 0x1p62))
    throw Error{Code::kUsage,
                "want a size such as 64M or 1Gi, got '" + text + "'"};
  return static_cast<std::uint64_t>(bytes);
}

std::chrono::milliseconds parse_duration(const std::string& text) {
  double ms =
      text == "0"
          ? 0
          : with_unit(text,
                      {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}});
  if (!(ms <= 1e12))
    throw Error{Code::kUsage,
                "want a time such as 30s or 5m, got '" + text + "'"};
  return std::chrono::milliseconds(std::llround(ms));
}

Options::Options(std::string tool) : state_(std::make_unique<State>()) {
  state_->tool = std::move(tool);
}
Options::~Options() = default;

void Options::add(const char* names, std::string* value, const char* metavar,
                  const char* help) {
  state_->add(split_names(names), metavar, help, *value,
              [value](const std::string& text) { *value = text; });
}

void Options::add(const char* names, std::int64_t* value, const char* metavar,
                  const char* help) {
  state_->add(split_names(names), metavar, help, std::to_string(*value),
              [value](const std::string& text) {
                *value = parse_number<std::int64_t>(text, "an integer");
              });
}

void Options::add(const char* names, std::uint64_t* value, const char* metavar,
                  const char* help) {
  state_->add(split_names(names), metavar, help, std::to_string(*value),
              [value](const std::string& text) {
                *value =
                    parse_number<std::uint64_t>(text, "an integer from 0 on");
              });
}

void Options::add(const char* names, double* value, const char* metavar,
                  const char* help) {
  state_->add(split_names(names), metavar, help, shortest(*value),
              [value](const std::string& text) {
                *value = parse_number<double>(text, "a number");
                if (!std::isfinite(*value))
                  throw Error{Code::kUsage, "want a finite number"};
              });
}

void Options::add(const char* names, std::vector<std::string>* value,
                  const char* metavar, const char* help) {
  Option& option =
      state_->add(split_names(names), metavar, help, "",
                  [value](const std::string& text) { value->push_back(text); });
  option.many = true;
}

void Options::flag(const char* names, bool* value, const char* help) {
  Option& option = state_->add(
      split_names(names), "", help, "", [value](const std::string& text) {
        if (text != "0" && text != "1")
          throw Error{Code::kUsage, "want 1 or 0, got " + in_quotes(text)};
        *value = text == "1";
      });
  option.takes_value = false;
}

void Options::size(const char* names, std::uint64_t* value, const char* metavar,
                   const char* help) {
  auto shown = [](std::uint64_t bytes) -> std::string {
    for (auto [unit, name] : {std::pair{30, "Gi"}, {20, "Mi"}, {10, "Ki"}})
      if (bytes != 0 && bytes % (std::uint64_t{1} << unit) == 0)
        return std::to_string(bytes >> unit) + name;
    return std::to_string(bytes);
  };
  state_->add(split_names(names), metavar, help, shown(*value),
              [value](const std::string& text) { *value = parse_size(text); });
}

void Options::duration(const char* names, std::chrono::milliseconds* value,
                       const char* metavar, const char* help) {
  auto shown = [](std::int64_t ms) -> std::string {
    if (ms == 0) return "0";
    for (auto [unit, name] :
         {std::pair{std::int64_t{3600000}, "h"}, {60000, "m"}, {1000, "s"}})
      if (ms % unit == 0) return std::to_string(ms / unit) + name;
    return std::to_string(ms) + "ms";
  };
  state_->add(
      split_names(names), metavar, help, shown(value->count()),
      [value](const std::string& text) { *value = parse_duration(text); });
}

void Options::section(const char* title) { state_->section = title; }

void Options::rest(std::vector<std::string>* value) { state_->rest = value; }

std::vector<std::string> Options::from_environment() const {
  std::vector<std::string> arguments;
  for (const Option& option : state_->options) {
    if (option.origin != Origin::kEnvironment) continue;
    if (option.takes_value)
      arguments.push_back("--" + option.name + "=" + option.shown);
    else if (option.shown != "0")
      arguments.push_back("--" + option.name);
  }
  return arguments;
}

bool Options::given(const std::string& name) const {
  const Option* option = state_->find(name);
  require(option != nullptr, "given() of an option that was not declared");
  return option->origin != Origin::kDefault;
}

void Options::refuse(const std::vector<std::string>& names,
                     const std::string& why) const {
  for (const std::string& name : names) {
    const Option* option = state_->find(name);
    require(option != nullptr, "refuse() of an option that was not declared");
    if (option->origin == Origin::kCommandLine)
      throw Error{Code::kUsage, "--" + name + " " + why};
  }
}

void Options::elsewhere(const std::vector<std::string>& names,
                        const std::string& where) {
  for (const std::string& name : names) state_->elsewhere[name] = where;
}

std::vector<std::string> Options::State::in_section(
    const std::string& title) const {
  std::vector<std::string> names;
  for (const Option& option : options)
    if (option.section == title) names.push_back(option.name);
  return names;
}

void Options::refuse_section(const std::string& title,
                             const std::string& why) const {
  refuse(state_->in_section(title), why);
}

bool Options::commands(const std::vector<std::string>& names) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const Option* option = state_->find(name);
    require(option != nullptr, "an option that was not declared");
    return option->origin == Origin::kCommandLine;
  });
}

void Options::refuse_empty(const std::vector<std::string>& but) const {
  for (const Option& option : state_->options)
    if (option.takes_value && option.origin == Origin::kCommandLine &&
        option.shown.empty() &&
        std::ranges::find(but, option.name) == but.end())
      throw Error{Code::kUsage,
                  "--" + option.name +
                      ": want a value, got an empty one; leave it out for "
                      "none"};
}

bool Options::commands_section(const std::string& title) const {
  return commands(state_->in_section(title));
}

}  // namespace dl::cli
