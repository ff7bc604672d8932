// Addresses, tokens and origins.

#include "libcore/plot/live/web_access.h"

#include "libcore/base/host_name.h"

namespace dl::plot {
namespace {

// "localhost:8080" -> "localhost", "[::1]:8080" -> "::1".
std::string without_port(std::string_view host) {
  if (host.starts_with('['))
    return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.rfind(':')));
}

// In a time that does not tell how much of it is right.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

}  // namespace

std::string WebAccess::refusal(const WebOrigin& from) const {
  const std::string host = without_port(from.host);
  if (token_.empty() && host != "localhost" && !is_loopback_address(host))
    return "this server is for http://localhost alone, and no other name";
  if (!from.origin.empty() && from.origin != "http://" + std::string(from.host))
    return "a page of another origin may not read this one";
  const bool followed_link =
      from.fetch_mode == "navigate" && from.fetch_dest == "document";
  if (!from.fetch_site.empty() && from.fetch_site != "none" &&
      from.fetch_site != "same-origin" && !followed_link)
    return "a page of another site may not read this one";
  return {};
}

std::optional<std::string> WebAccess::below_root(
    std::string_view target) const {
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  if (token_.empty()) return std::string(target);
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos ||
      !is_same(target.substr(0, slash), token_))
    return std::nullopt;
  return std::string(target.substr(slash + 1));
}

std::string WebAccess::url() const {
  std::string host = address_.address;
  if (host == "0.0.0.0" || host == "::")
    host = host_name();
  else if (host.find(':') != std::string::npos)
    host = "[" + host + "]";
  return "http://" + host + ":" + std::to_string(address_.port) + "/" +
         (token_.empty() ? "" : token_ + "/");
}

}  // namespace dl::plot
