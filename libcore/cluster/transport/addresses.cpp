#include "libcore/cluster/transport/addresses.h"

#include <sys/socket.h>

#include <array>

namespace dl::cluster {

Addresses::Addresses(const std::string& text) {
  std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  std::string port = colon == text.npos ? "" : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  error_ = getaddrinfo(host.c_str(), port.c_str(), &hints, &first_);
  if (error_ != 0) first_ = nullptr;
}

Addresses::~Addresses() {
  if (first_ != nullptr) freeaddrinfo(first_);
}

std::string Addresses::why() const {
  if (error_ == EAI_NONAME || error_ == EAI_AGAIN) return "name not found";
  return error_ == 0 ? "" : gai_strerror(error_);
}

std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(address, size, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "";
  return address->sa_family == AF_INET6 ? std::string("[") + text.data() + "]"
                                        : text.data();
}

}  // namespace dl::cluster
