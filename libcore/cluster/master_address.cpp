#include "libcore/cluster/master_address.h"

#include <charconv>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/io/source.h"

namespace dl::cluster {
namespace {

constexpr std::size_t kMaxFileBytes = 64 << 10;

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() &&
         port >= 1 && port <= 65535;
}

}  // namespace

std::string MasterAddress::look_up(std::string& why) const {
  if (file.empty()) return endpoint;
  try {
    const auto source = io::open_file(file);
    const Json json = parse_json(io::read_all(*source, kMaxFileBytes),
                                 source->name(), Code::kNoInput);
    std::string found = JsonView(json, Code::kNoInput).at("endpoint").string();
    check_endpoint(found);
    return found;
  } catch (const Error& e) {
    why = e.what();
    return {};
  }
}

std::string MasterAddress::name() const {
  return file.empty() ? endpoint : "'" + file + "'";
}

void check_endpoint(const std::string& text) {
  bool good = false;
  if (text.starts_with("tcp://")) {
    const auto colon = text.rfind(':');
    good = colon > 6 && is_port(std::string_view(text).substr(colon + 1));
  } else if (text.starts_with("ipc://")) {
    good = text.size() > 6;
  }
  if (!good)
    throw Error{Code::kUsage,
                "the master's address is tcp://HOST:PORT or "
                "ipc://PATH, not '" +
                    text + "'"};
}

}  // namespace dl::cluster
