#include "libcore/cluster/protocol/endpoint.h"

#include <algorithm>
#include <array>

namespace dl::cluster {

namespace {

constexpr std::string_view kTcp = "tcp://", kIpc = "ipc://";

std::optional<std::string> after(std::string_view prefix,
                                 std::string_view endpoint) {
  if (!endpoint.starts_with(prefix)) return std::nullopt;
  return std::string(endpoint.substr(prefix.size()));
}

}  // namespace

std::string tcp_endpoint(std::string_view address) {
  return std::string(kTcp).append(address);
}

std::string ipc_endpoint(std::string_view path) {
  return std::string(kIpc).append(path);
}

std::optional<std::string> tcp_address(std::string_view endpoint) {
  return after(kTcp, endpoint);
}

std::optional<std::string> ipc_path(std::string_view endpoint) {
  return after(kIpc, endpoint);
}

bool is_local(std::string_view endpoint) {
  constexpr std::array<std::string_view, 3> kLoopback = {
      "127.", "localhost:", "[::1]:"};
  const auto address = tcp_address(endpoint);
  if (!address) return ipc_path(endpoint) || endpoint.starts_with("inproc://");
  return std::ranges::any_of(kLoopback, [&](std::string_view start) {
    return address->starts_with(start);
  });
}

}  // namespace dl::cluster
