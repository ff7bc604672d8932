// A server of pages by HTTP: it answers GET and HEAD, and tells watchers by
// server-sent events when what they watch is another.
//
// One thread, a bounded number of connections, requests of bounded size, limits
// of time for reading and writing.  Nothing is written anywhere.

#ifndef DL_LIBCORE_PLOT_LIVE_WEB_SERVER_H_
#define DL_LIBCORE_PLOT_LIVE_WEB_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libcore/plot/live/web_access.h"

namespace dl::plot {

struct WebAnswer {
  unsigned status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

// Targets are below the root: "", "run?name=a".
struct WebSite {
  std::function<WebAnswer(const std::string& target)> answer;
  // A word for the state of what `events?...` watches, asked several times a
  // second; nothing: there is no such target.
  std::function<std::optional<std::string>(const std::string& target)> state;
  // Called at the end: states and answers are the newest from then on.
  std::function<void()> hurry = [] {};
};

class WebServer {
 public:
  // Listens; a port of 0 becomes a free one.  An address of another host than
  // loopback gets a token.
  // Throws Error: kUnavailable, the port is taken or the address not ours.
  WebServer(WebAddress address, WebSite site);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  std::string url() const;
  // Until SIGTERM.  Watchers are told of the last state, and have a little time
  // to read it; they leave when they have.
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_LIVE_WEB_SERVER_H_
