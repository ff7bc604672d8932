// Parsing, and the texts made from the declarations.

#include "libcore/cli/options_state.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/base/json.h"

namespace dl::cli {
namespace {

namespace po = boost::program_options;

// A value the user gave, with the option's name in front of a complaint.
void assign(Option& option, const std::string& label, const std::string& text,
            Origin origin) {
  try {
    option.set(text);
  } catch (Error& error) {
    error.add_context(label);
    throw;
  }
  option.shown =
      option.many && option.origin == origin ? option.shown + " " + text : text;
  option.origin = origin;
}

po::options_description describe(const std::deque<Option>& options) {
  po::options_description description;
  for (const Option& option : options) {
    std::string names = option.name;
    if (option.letter != '\0') names += std::string(",") + option.letter;
    if (option.takes_value)
      description.add_options()(names.c_str(),
                                po::value<std::vector<std::string>>());
    else
      description.add_options()(names.c_str(), "");
  }
  return description;
}

// A shell has put names in the place of a pattern, most likely.
std::string unexpected(const std::string& operand) {
  return "unexpected operand '" + operand + "'" +
         (operand.ends_with(".dls")
              ? "; put a pattern into quotes, as in --data 'train-*.dls', or "
                "repeat the option"
              : "");
}

std::string unrecognised(const Options::State& state, const std::string& name) {
  const std::string said = "unrecognised option '" + name + "'";
  std::string bare =
      name.substr(std::min(name.find_first_not_of('-'), name.size()));
  bare = bare.substr(0, bare.find('='));
  if (const auto at = state.elsewhere.find(bare); at != state.elsewhere.end())
    return said + ": " + at->second;
  std::vector<std::string> names;
  names.reserve(state.options.size());
  for (const Option& option : state.options) names.push_back(option.name);
  const std::string meant = nearest(bare, names);
  return said + (meant.empty() ? "" : "; did you mean '--" + meant + "'?");
}

std::vector<po::option> split_command_line(const Options::State& state,
                                           int argc, char** argv) {
  po::options_description description = describe(state.options);
  po::positional_options_description positional;
  description.add_options()("operand", po::value<std::vector<std::string>>());
  positional.add("operand", -1);
  int style = po::command_line_style::unix_style &
              ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(argc, argv)
        .options(description)
        .positional(positional)
        .style(style)
        .run()
        .options;
  } catch (const po::unknown_option& error) {
    throw Error{Code::kUsage, unrecognised(state, error.get_option_name())};
  } catch (const po::error& error) {
    throw Error{Code::kUsage, error.what()};
  }
}

}  // namespace

Option& Options::State::add(std::pair<std::string, char> names,
                            const char* metavar, const char* help,
                            std::string shown,
                            std::function<void(const std::string&)> set) {
  Option& option = options.emplace_back();
  option.name = std::move(names.first);
  option.letter = names.second;
  option.metavar = metavar;
  option.help = help;
  option.section = section;
  option.shown = std::move(shown);
  option.set = std::move(set);
  return option;
}

const Option* Options::State::find(const std::string& name) const {
  auto found = std::find_if(options.begin(), options.end(),
                            [&](const Option& o) { return o.name == name; });
  return found == options.end() ? nullptr : &*found;
}

void Options::State::parse(int argc, char** argv) {
  std::vector<std::string> operands;
  for (const po::option& given : split_command_line(*this, argc, argv)) {
    if (given.string_key == "operand" || given.position_key >= 0) {
      operands.insert(operands.end(), given.value.begin(), given.value.end());
      continue;
    }
    Option& option = *std::find_if(
        options.begin(), options.end(),
        [&](const Option& o) { return o.name == given.string_key; });
    std::string label = "--" + option.name;
    if (option.origin == Origin::kCommandLine && !option.many &&
        option.takes_value)
      throw Error{Code::kUsage, label + " is given twice"};
    assign(option, label, option.takes_value ? given.value.at(0) : "1",
           Origin::kCommandLine);
  }
  for (Option& option : options) {
    if (option.origin != Origin::kDefault) continue;
    std::string name = environment_name(option);
    if (const char* value = std::getenv(name.c_str());
        value != nullptr && *value != '\0')
      assign(option, name, value, Origin::kEnvironment);
  }
  if (operands.empty()) return;
  if (rest == nullptr) throw Error{Code::kUsage, unexpected(operands[0])};
  *rest = std::move(operands);
}

std::string Options::State::environment_name(const Option& option) const {
  std::string name = tool + "_" + option.name;
  for (char& c : name)
    c = c == '-'
            ? '_'
            : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string Options::State::help_text() const {
  constexpr std::size_t kColumn = 30;
  std::string text, current = "\n";  // no section is called that
  for (const Option& option : options) {
    if (option.section != current) {
      current = option.section;
      text += "\n" + (current.empty() ? "Options" : current) + ":\n";
    }
    std::string left = option.letter != '\0'
                           ? std::string("  -") + option.letter + ", --"
                           : "      --";
    left += option.name;
    if (option.takes_value) left += " " + option.metavar;
    // One line an option, so that grep shows all of it.
    if (left.size() + 2 > kColumn)
      left += "  ";
    else
      left.resize(kColumn, ' ');
    text += left + option.help;
    if (option.takes_value && !option.shown.empty())
      text += " [" + option.shown + "]";
    text += "\n";
  }
  return text;
}

std::string Options::State::config_text() const {
  std::string text;
  for (const Option& option : options) {
    std::string value = option.shown;
    if (!option.takes_value && value.empty()) value = "0";
    text += option.name + " = " + value + "  # ";
    text += option.origin == Origin::kDefault       ? "default"
            : option.origin == Origin::kCommandLine ? "command line"
                                                    : environment_name(option);
    text += "\n";
  }
  return text;
}

}  // namespace dl::cli
