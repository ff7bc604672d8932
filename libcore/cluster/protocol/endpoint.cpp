#include "libcore/cluster/protocol/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>

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

// A name may begin as an address does: "127.example.org".
bool is_local(std::string_view endpoint) {
  const auto address = tcp_address(endpoint);
  if (!address) return ipc_path(endpoint) || endpoint.starts_with("inproc://");
  const std::size_t colon = address->rfind(':');
  if (colon == address->npos) return false;
  const std::string host = address->substr(0, colon);
  std::array<std::uint8_t, sizeof(in_addr)> bytes{};
  return host == "localhost" || host == "[::1]" ||
         (inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 &&
          bytes[0] == 127);
}

}  // namespace dl::cluster
