#include "libcore/cluster/run_files.h"

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".safetensors";

// Whether the file is one of the run's that are in the folder now.
bool is_file_of_run(const std::string& file, const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((is_of_run(name) || name == "lock") &&
        fs::equivalent(entry.path(), file, ignored))
      return true;
  }
  return false;
}

// Whether the run would write a file of this name.
bool has_name_of_run(const fs::path& file, const std::string& folder) {
  const std::string name = file.filename().string();
  if (!is_of_run(name) && name != "lock") return false;
  const fs::path parent = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  return fs::equivalent(parent, folder, ignored);
}

}  // namespace

std::int64_t checkpoint_number(const std::string& name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() ||
      !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return -1;
  const std::string digits = name.substr(
      kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  if (digits.size() > 15 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::stoll(digits);
}

std::string checkpoint_name(std::int64_t number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%06lld",
                static_cast<long long>(number));
  return std::string(kPrefix) + digits + std::string(kSuffix);
}

bool is_of_run(const std::string& name) {
  return checkpoint_number(name) >= 0 || name == "run.json" ||
         name == "events.jsonl" || name == "best.safetensors" ||
         (name.starts_with("updates-") && name.ends_with(".log")) ||
         (name.starts_with("data-") && name.ends_with(".dls"));
}

void refuse_overwriting_run(const std::string& output,
                            const std::string& folder) {
  if (output == "-") return;
  if (has_name_of_run(output, folder) || is_file_of_run(output, folder))
    throw Error{Code::kUsage, "'" + output +
                                  "' is the output and also a file of the run "
                                  "in '" +
                                  folder + "'; give it another name"};
}

void refuse_removing(const std::vector<std::string>& inputs,
                     const std::string& folder) {
  for (const std::string& input : inputs)
    if (io::names_file(input) && is_file_of_run(input, folder))
      throw Error{Code::kUsage,
                  "--fresh would remove the input '" + input +
                      "' with the run in '" + folder +
                      "'; copy it to another place, or give another --run"};
}

}  // namespace dl::cluster
