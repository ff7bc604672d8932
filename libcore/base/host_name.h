// The name of this host.

#ifndef DL_LIBCORE_BASE_HOST_NAME_H_
#define DL_LIBCORE_BASE_HOST_NAME_H_

#include <unistd.h>

#include <array>
#include <string>

namespace dl {

inline std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_HOST_NAME_H_
