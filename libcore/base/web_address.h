// The address at which pages are served.

#ifndef DL_LIBCORE_BASE_WEB_ADDRESS_H_
#define DL_LIBCORE_BASE_WEB_ADDRESS_H_

#include <cstdint>
#include <string>

namespace dl {

struct WebAddress {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, in digits
  std::uint16_t port = 0;             // 0: any free one
  bool is_loopback() const;
};

// Whether digits of an address, without brackets, are one of this host alone.
bool is_loopback_address(const std::string& address);

// "8080", "localhost:8080", "0.0.0.0:8080", "*:8080", "[::1]:0".
// Throws Error: kUsage, with the option's name.
WebAddress parse_web_address(const std::string& option,
                             const std::string& text);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_WEB_ADDRESS_H_
