#include "libcore/cluster/transport/own_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "libcore/base/error.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/transport/master_address.h"

namespace dl::cluster {
namespace {

constexpr std::size_t kBytes4 = 4, kBytes6 = 16;

struct Network {
  int family;
  std::array<std::uint8_t, 16> bytes{};
  unsigned bits;
};

// "10.0.0.0/16"
Network parse_network(const std::string& text) {
  const auto fail = [&] {
    throw Error{Code::kUsage,
                "--network: want a network such as 10.0.0.0/16 or fd00::/8, "
                "got '" +
                    text + "'"};
  };
  const auto slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Network network{};
  network.family = address.find(':') == address.npos ? AF_INET : AF_INET6;
  if (inet_pton(network.family, address.c_str(), network.bytes.data()) != 1)
    fail();
  const unsigned most = network.family == AF_INET ? 32 : 128;
  network.bits = most;
  if (slash == text.npos) return network;
  const char* const end = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data() + slash + 1, end, network.bits);
  if (error != std::errc{} || rest != end || network.bits > most) fail();
  return network;
}

bool holds(const Network& network, const HostAddress& address) {
  if (network.family != address.family) return false;
  for (unsigned bit = 0; bit < network.bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if (((network.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask) != 0)
      return false;
  }
  return true;
}

// An address of no use without the interface, which an endpoint does not have.
bool is_link_local(const HostAddress& address) {
  return address.family == AF_INET6 && address.bytes[0] == 0xfe &&
         (address.bytes[1] & 0xc0) == 0x80;
}

bool is_loopback(const HostAddress& address) {
  return address.text.starts_with("127.") || address.text == "::1";
}

std::string as_text(const HostAddress& address) {
  return address.text + " (" + address.interface + ")";
}

std::string list_of(const std::vector<const HostAddress*>& addresses) {
  std::string text;
  for (const HostAddress* each : addresses)
    text += (text.empty() ? "" : ", ") + as_text(*each);
  return text;
}

[[noreturn]] void not_there(const NetworkChoice& choice,
                            const std::vector<HostAddress>& addresses) {
  std::vector<const HostAddress*> usable;
  bool known = false;
  for (const HostAddress& each : addresses) {
    known = known || each.interface == choice.interface;
    if (!is_link_local(each)) usable.push_back(&each);
  }
  const std::string what =
      choice.interface.empty()
          ? "--network " + choice.network +
                ": no address of this host is in that network"
      : known ? "--interface " + choice.interface + ": it has no address"
              : "--interface " + choice.interface +
                    ": no interface of that name is up";
  throw Error{Code::kUnavailable,
              what + "; there " +
                  (usable.empty() ? "are none" : "are " + list_of(usable))};
}

}  // namespace

void check_network(const NetworkChoice& choice) {
  if (!choice.interface.empty() && !choice.network.empty())
    throw Error{Code::kUsage, "want one of --interface and --network"};
  if (!choice.network.empty()) parse_network(choice.network);
}

std::vector<HostAddress> host_addresses() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0)
    throw Error{Code::kUnavailable,
                std::string("cannot list the addresses of this host: ") +
                    std::strerror(errno)};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found,
                                                               freeifaddrs);
  std::vector<HostAddress> result;
  for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    HostAddress address{at->ifa_name, "", at->ifa_addr->sa_family, {}};
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
      std::memcpy(address.bytes.data(), &in->sin_addr, kBytes4);
    } else if (address.family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
      std::memcpy(address.bytes.data(), &in->sin6_addr, kBytes6);
    } else {
      continue;
    }
    inet_ntop(address.family, address.bytes.data(), text.data(), text.size());
    address.text = text.data();
    result.push_back(std::move(address));
  }
  return result;
}

std::string own_address(const NetworkChoice& choice,
                        const std::vector<HostAddress>& addresses,
                        const Log& log) {
  check_network(choice);
  std::vector<const HostAddress*> fitting;
  for (const HostAddress& each : addresses)
    if (!is_link_local(each) &&
        (choice.network.empty() ? each.interface == choice.interface
                                : holds(parse_network(choice.network), each)))
      fitting.push_back(&each);
  if (fitting.empty()) not_there(choice, addresses);
  std::ranges::stable_sort(fitting, {}, [](const HostAddress* each) {
    return (is_loopback(*each) ? 2 : 0) + (each->family == AF_INET ? 0 : 1);
  });
  const HostAddress& chosen = *fitting.front();
  if (fitting.size() > 1)
    log(Level::kInfo, "taking " + as_text(chosen) + " of " + list_of(fitting));
  return chosen.family == AF_INET ? chosen.text : "[" + chosen.text + "]";
}

std::string at_own_address(const std::string& bind, const NetworkChoice& choice,
                           const Log& log) {
  const auto address = tcp_address(bind);
  if (!address || !address->starts_with("*:"))
    throw Error{Code::kUsage,
                "--interface and --network choose the address themselves: want "
                "--bind tcp://*:PORT beside them, not " +
                    bind};
  return tcp_endpoint(own_address(choice, host_addresses(), log) +
                      address->substr(1));
}

std::string advertised(const std::string& endpoint,
                       const std::string& advertise) {
  const auto bound = tcp_address(endpoint);
  if (!bound)
    throw Error{Code::kUsage, "--advertise is for tcp://, not " + endpoint};
  const auto colon = advertise.rfind(':'), bracket = advertise.rfind(']');
  const bool has_port =
      colon != advertise.npos && (bracket == advertise.npos || bracket < colon);
  std::string told = tcp_endpoint(advertise);
  if (!has_port) told += bound->substr(bound->rfind(':'));
  try {
    check_endpoint(told);
    const bool bare = bracket == advertise.npos && has_port &&
                      advertise.find(':') != colon;  // IPv6
    if (!bare) return told;
  } catch (const Error&) {  // says it in other words
  }
  throw Error{Code::kUsage,
              "--advertise: want HOST or HOST:PORT, with brackets around an "
              "IPv6 address, got '" +
                  advertise + "'"};
}

}  // namespace dl::cluster
