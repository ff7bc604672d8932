// The meaning of the host and port of an endpoint.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_ADDRESSES_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_ADDRESSES_H_

#include <netdb.h>

#include <string>

namespace dl::cluster {

class Addresses {
 public:
  // text: "HOST:PORT", "[IPV6]:PORT".  Takes as long as the resolver does.
  explicit Addresses(const std::string& text);
  ~Addresses();
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  const addrinfo* first() const { return first_; }  // null if there are none
  // Reason why there are none: "name not found"; or "".
  std::string why() const;

 private:
  addrinfo* first_ = nullptr;
  int error_ = 0;
};

// "10.0.0.7", "[fd00::7]"
std::string text_of(const sockaddr* address, socklen_t size);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_ADDRESSES_H_
