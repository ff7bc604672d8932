#include "libcore/cluster/transport/master_address.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/io/source.h"

namespace dl::cluster {
namespace {

constexpr std::size_t kMaxFileBytes = 64 << 10;

bool is_port(std::string_view text, unsigned least) {
  unsigned port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() &&
         port >= least && port <= 65535;
}

// tcp://HOST:PORT or ipc://PATH
bool is_endpoint(std::string_view text, unsigned least) {
  if (const auto path = ipc_path(text)) return !path->empty();
  const auto address = tcp_address(text);
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' '; }))
    return false;
  const auto colon = address ? address->rfind(':') : std::string::npos;
  return colon != std::string::npos && colon > 0 &&
         is_port(std::string_view(*address).substr(colon + 1), least);
}

}  // namespace

MasterAddress::Seen MasterAddress::look() const {
  if (file.empty()) return {endpoint, "", ""};
  try {
    // A FIFO would be waited for without an end.
    std::error_code ignored;
    if (std::filesystem::is_fifo(file, ignored))
      throw Error{Code::kNoInput,
                  "'" + displayed(file) + "' is a FIFO: want a file"};
    const auto source = io::open_file(file);
    const Json json = parse_json(io::read_all(*source, kMaxFileBytes),
                                 source->name(), Code::kNoInput);
    const JsonView view(json, Code::kNoInput);
    if (view.has("finished"))
      return {"", "'" + displayed(file) + "' is of a run that is finished",
              view.at("run").string()};
    std::string found = view.at("endpoint").string();
    check_endpoint(found);
    return {found, "", ""};
  } catch (const Error& e) {
    return {"", e.what(), ""};
  }
}

std::string MasterAddress::name() const {
  return file.empty() ? endpoint : "'" + displayed(file) + "'";
}

void check_endpoint(const std::string& text) {
  if (is_endpoint(text, 1)) return;
  throw Error{Code::kUsage,
              "the master's address is tcp://HOST:PORT, with a port of 1 to "
              "65535, or ipc://PATH, not '" +
                  displayed(text) + "'"};
}

void check_bind(const std::string& text) {
  if (is_endpoint(text, 0) ||
      (text.ends_with(":*") &&
       is_endpoint(text.substr(0, text.size() - 1) + "0", 0)))
    return;
  throw Error{Code::kUsage,
              "--bind: want tcp://HOST:PORT, with a port of 1 to 65535 or 0 "
              "for a free one, or ipc://PATH, got '" +
                  displayed(text) + "'"};
}

}  // namespace dl::cluster
