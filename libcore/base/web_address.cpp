// Parsing of addresses.

#include "libcore/base/web_address.h"

#include <arpa/inet.h>

#include <charconv>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl {
namespace {

bool is_ip_address(int family, const std::string& text) {
  unsigned char bytes[16];
  return ::inet_pton(family, text.c_str(), bytes) == 1;
}

}  // namespace

bool is_loopback_address(const std::string& address) {
  return address == "::1" ||
         (is_ip_address(AF_INET, address) && address.starts_with("127."));
}

bool WebAddress::is_loopback() const { return is_loopback_address(address); }

WebAddress parse_web_address(const std::string& option,
                             const std::string& text) {
  const auto refuse = [&] {
    bad_usage(option + ": want [ADDRESS:]PORT, such as 8080 or 0.0.0.0:8080, " +
              "got " + in_quotes(text));
  };
  WebAddress result;
  const std::size_t colon = text.rfind(':');
  const std::string port =
      colon == std::string::npos ? text : text.substr(colon + 1);
  const auto [end, failed] =
      std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (failed != std::errc() || end != port.data() + port.size()) refuse();
  if (colon == std::string::npos) return result;
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
    if (!is_ip_address(AF_INET6, address)) refuse();
  } else if (address == "localhost") {
    address = "127.0.0.1";
  } else if (address == "*") {
    address = "0.0.0.0";
  } else if (!is_ip_address(AF_INET, address)) {
    refuse();
  }
  result.address = address;
  return result;
}

}  // namespace dl
