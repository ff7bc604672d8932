// Access to pages that are served: where they are, and who may read them.
//
// On loopback anybody of this host may, unless a page of another origin asks in
// a browser's name: its Host or Origin is not ours (DNS rebinding).  Elsewhere
// the path begins with a token.

#ifndef DL_LIBCORE_PLOT_LIVE_WEB_ACCESS_H_
#define DL_LIBCORE_PLOT_LIVE_WEB_ACCESS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/web_address.h"

namespace dl::plot {

// Headers of a request that tell who asks; "": it has none.
struct WebOrigin {
  std::string_view host = {}, origin = {}, fetch_site = {}, fetch_mode = {},
                   fetch_dest = {};
};

class WebAccess {
 public:
  // token: letters and digits; "": none.
  WebAccess(WebAddress address, std::string token)
      : address_(std::move(address)), token_(std::move(token)) {}

  // The reason to refuse the request; "": there is none.
  std::string refusal(const WebOrigin& from) const;
  // "/TOKEN/run?name=a" -> "run?name=a"; nothing: the token is not there.
  std::optional<std::string> below_root(std::string_view target) const;
  // "http://127.0.0.1:8080/", for people: of all addresses this host's name.
  std::string url() const;

 private:
  WebAddress address_;
  std::string token_;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_LIVE_WEB_ACCESS_H_
