// Names of a run's files that are numbered: "checkpoint-000041.safetensors".

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_NUMBERED_NAME_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_NUMBERED_NAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dl::cluster {

struct NumberedName {
  std::string_view prefix, suffix;
  int digits = 1;  // least number of digits

  std::string of(std::int64_t number) const;
  // Number of a name, or nothing if the name is not of this kind.
  std::optional<std::int64_t> parse(std::string_view name) const;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_NUMBERED_NAME_H_
