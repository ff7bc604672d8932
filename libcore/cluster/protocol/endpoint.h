// Where a socket listens, as ZeroMQ writes it: tcp://HOST:PORT or ipc://PATH.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_ENDPOINT_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_ENDPOINT_H_

#include <optional>
#include <string>
#include <string_view>

namespace dl::cluster {

// Any free port of all interfaces.
inline constexpr std::string_view kAnyEndpoint = "tcp://*:0";

std::string tcp_endpoint(std::string_view address);  // "HOST:PORT"
std::string ipc_endpoint(std::string_view path);
// Address of a tcp endpoint; nothing if the endpoint is of another kind.
std::optional<std::string> tcp_address(std::string_view endpoint);
std::optional<std::string> ipc_path(std::string_view endpoint);

// Whether only this host can reach the endpoint.
bool is_local(std::string_view endpoint);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_ENDPOINT_H_
