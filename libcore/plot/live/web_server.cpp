// Sessions of Boost.Beast.

#include "libcore/plot/live/web_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <set>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/io/hex.h"

namespace dl::plot {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Code_ = boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostSessions = 256;
constexpr std::uint32_t kMostHeaders = 16384;
constexpr seconds kSlowest{30};       // request, answer or keep-alive
constexpr milliseconds kTick{250};    // between looks at what is watched
constexpr int kTicksToSign = 15 * 4;  // of life, to find out who has gone
constexpr seconds kFarewell{5};       // most time for watchers at the end

// Pages are complete in themselves; nothing may be loaded from elsewhere, and
// no other page may hold one.
void protect(http::fields& fields) {
  fields.set(http::field::server, "dl-plot");
  fields.set(http::field::cache_control, "no-store");
  fields.set("Content-Security-Policy",
             "default-src 'none'; style-src 'unsafe-inline'; script-src "
             "'unsafe-inline'; img-src data:; connect-src 'self'; form-action "
             "'self'; base-uri 'none'; frame-ancestors 'none'");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "DENY");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
  fields.set("Cross-Origin-Opener-Policy", "same-origin");
}

WebAnswer refused(unsigned status, const std::string& why) {
  return {status, "text/plain; charset=utf-8", why + "\n"};
}

}  // namespace

struct WebServer::Impl {
  class Session;

  Impl(WebAddress where, WebSite pages)
      : site(std::move(pages)),
        acceptor(context),
        timer(context),
        pause(context),
        farewell(context),
        stop(context),
        access(listen(std::move(where))) {}

  WebAccess listen(WebAddress where);
  void accept();
  void tick();
  void end();
  void leave_if_alone();

  WebSite site;
  asio::io_context context{1};
  tcp::acceptor acceptor;
  asio::steady_timer timer, pause, farewell;
  asio::signal_set stop;
  WebAccess access;
  std::set<Session*> watchers;
  std::size_t sessions = 0;
  int ticks = 0;
  bool ending = false;
};

// A connection: requests and answers by turns, or a watcher's events.
class WebServer::Impl::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Impl& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)) {
    ++server_.sessions;
  }
  ~Session() {
    --server_.sessions;
    server_.watchers.erase(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaders);
    stream_.expires_after(kSlowest);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](Code_ failed, std::size_t) {
          if (!failed) self->take();
        });
  }

  // Sends the state if it is another, or the last, or a sign of life.
  void look(bool sign) {
    if (writing_ || dismissed_) return;
    const auto state = server_.site.state(watched_);
    if (!state) return stream_.close();
    dismissed_ = server_.ending;
    if (*state != told_ || dismissed_) {
      told_ = *state;
      send((dismissed_ ? "event: end\ndata: " : "data: ") + told_ + "\n\n");
    } else if (sign) {
      send(":\n\n");
    }
  }

 private:
  using Request = http::request<http::empty_body>;

  void take() {
    const Request& request = parser_->get();
    const auto header = [&](std::string_view name) {
      const auto value = request[beast::string_view(name.data(), name.size())];
      return std::string_view(value.data(), value.size());
    };
    if (request.method() != http::verb::get &&
        request.method() != http::verb::head)
      return answer(refused(405, "pages are read by GET and HEAD"));
    const std::string why = server_.access.refusal(
        {header("Host"), header("Origin"), header("Sec-Fetch-Site"),
         header("Sec-Fetch-Mode"), header("Sec-Fetch-Dest")});
    if (!why.empty()) return answer(refused(403, why));
    const auto target = server_.access.below_root(
        {request.target().data(), request.target().size()});
    if (!target)
      return answer(refused(
          403, "the address lacks its token; dl-plot has printed the whole"));
    if (target->starts_with("events")) return watch(*target);
    try {
      answer(server_.site.answer(*target));
    } catch (const Error& e) {
      answer(refused(500, e.what()));
    }
  }

  void answer(WebAnswer of) {
    const Request& request = parser_->get();
    auto response = std::make_shared<http::response<http::string_body>>(
        static_cast<http::status>(of.status), request.version());
    protect(*response);
    response->set(http::field::content_type, of.type);
    if (of.status == 405) response->set(http::field::allow, "GET, HEAD");
    response->keep_alive(request.keep_alive() && of.status == 200);
    if (request.method() == http::verb::head)
      response->content_length(of.body.size());
    else
      response->body() = std::move(of.body);
    if (request.method() != http::verb::head) response->prepare_payload();
    stream_.expires_after(kSlowest);
    http::async_write(
        stream_, *response,
        [self = this->shared_from_this(), response](Code_ failed, std::size_t) {
          if (failed) return;
          if (response->keep_alive()) return self->read();
          Code_ ignored;
          [[maybe_unused]] const Code_ same = self->stream_.socket().shutdown(
              tcp::socket::shutdown_send, ignored);
        });
  }

  void watch(const std::string& target) {
    if (parser_->get().method() == http::verb::head ||
        !server_.site.state(target))
      return answer(refused(404, "there is no such page"));
    watched_ = target;
    http::response<http::empty_body> response(http::status::ok, 11);
    protect(response);
    response.set(http::field::content_type, "text/event-stream");
    response.set(http::field::connection, "close");
    std::ostringstream text;
    text << response.base();
    server_.watchers.insert(this);
    send(text.str() + "retry: 2000\n\n");
  }

  void send(std::string text) {
    writing_ = true;
    const auto bytes = std::make_shared<std::string>(std::move(text));
    stream_.expires_after(kSlowest);
    asio::async_write(
        stream_, asio::buffer(*bytes),
        [self = this->shared_from_this(), bytes](Code_ failed, std::size_t) {
          self->writing_ = false;
          if (failed) return self->leave();
          self->stream_.expires_never();
          if (!self->waiting_) self->wait_for_end();
          self->look(false);
        });
  }

  // A watcher says no more: what comes is its end.
  void wait_for_end() {
    waiting_ = true;
    stream_.async_read_some(asio::buffer(&unread_, 1),
                            [self = this->shared_from_this()](
                                Code_, std::size_t) { self->leave(); });
  }

  void leave() {
    server_.watchers.erase(this);
    stream_.close();
    server_.leave_if_alone();
  }

  Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaders * 2};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::string watched_, told_;
  bool writing_ = false, waiting_ = false, dismissed_ = false;
  char unread_ = 0;
};

WebAccess WebServer::Impl::listen(WebAddress where) {
  const tcp::endpoint endpoint(asio::ip::make_address(where.address),
                               where.port);
  try {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const boost::system::system_error& e) {
    throw Error{Code::kUnavailable, "cannot listen on " + where.address + ":" +
                                        std::to_string(where.port) + ": " +
                                        e.code().message()};
  }
  where.port = acceptor.local_endpoint().port();
  const bool here = where.is_loopback();
  return {std::move(where), here ? "" : io::random_digits()};
}

void WebServer::Impl::accept() {
  acceptor.async_accept([this](Code_ failed, tcp::socket socket) {
    // More than it can serve wait in the system's queue, and are closed.
    if (!failed && sessions < kMostSessions)
      std::make_shared<Session>(*this, std::move(socket))->read();
    if (!failed) return accept();
    pause.expires_after(kTick);  // there are too many files, say
    pause.async_wait([this](Code_) { accept(); });
  });
}

void WebServer::Impl::tick() {
  timer.expires_after(kTick);
  timer.async_wait([this](Code_) {
    const bool sign = ++ticks % kTicksToSign == 0;
    // A copy: watchers that end leave the set.
    for (Session* one : std::set<Session*>(watchers)) one->look(sign);
    tick();
  });
}

void WebServer::Impl::end() {
  ending = true;
  site.hurry();
  for (Session* one : std::set<Session*>(watchers)) one->look(false);
  farewell.expires_after(kFarewell);
  farewell.async_wait([this](Code_) { context.stop(); });
  leave_if_alone();
}

void WebServer::Impl::leave_if_alone() {
  if (ending && watchers.empty()) context.stop();
}

WebServer::WebServer(WebAddress address, WebSite site)
    : impl_(std::make_unique<Impl>(std::move(address), std::move(site))) {}

WebServer::~WebServer() = default;

std::string WebServer::url() const { return impl_->access.url(); }

void WebServer::run() {
  impl_->stop.add(SIGTERM);
  impl_->stop.async_wait([this](Code_, int) { impl_->end(); });
  impl_->accept();
  impl_->tick();
  impl_->context.run();
}

}  // namespace dl::plot
