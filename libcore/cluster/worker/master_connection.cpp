#include "libcore/cluster/worker/master_connection.h"

#include <array>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/number_format.h"
#include "libcore/base/readable.h"
#include "libcore/cluster/transport/transport_socket.h"

namespace dl::cluster {
namespace {

using std::chrono::milliseconds;

constexpr double kNoticeSeconds = 10;   // between two lines of waiting
constexpr milliseconds kLook{200};      // between two looks at the socket
constexpr double kLookUpSeconds = 0.5;  // ... at the master's file
constexpr milliseconds kHelloLimit{1000};
constexpr int kMostDamages = 10;       // of a line; then it is the program
constexpr double kAnswerSeconds = 10;  // then the line may be dead: another

double seconds(milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string seconds_text(milliseconds time) {
  return format("%.10g s", seconds(time));
}

std::string text_of(const WorkerKeys& keys) {
  return keys.server + keys.own.public_key;
}

}  // namespace

MasterConnection::MasterConnection(const WorkerOptions& options, const Log& log,
                                   Carrier carrier)
    : options_(options), log_(log), carrier_(std::move(carrier)) {}

std::optional<Received> MasterConnection::join(
    const Hello& hello, bool first, const std::function<void()>& check) {
  if (first && has_keys(options_.security)) read_keys();  // good ones are there
  const double begin = monotonic_seconds();
  const double deadline =
      begin + seconds(first ? options_.wait : options_.wait_lost);
  double notice = begin + 1;
  Received answer;
  while (!try_endpoint(hello, deadline, notice, check, answer)) {
    if (over_) return std::nullopt;
    if (monotonic_seconds() >= deadline) give_up(first);
  }
  return answer;
}

void MasterConnection::give_up(bool first) const {
  std::string where = endpoint_.empty() ? options_.master.name() : endpoint_;
  // It may be what a master left that is long gone.
  if (!endpoint_.empty() && !options_.master.file.empty())
    where += " (from " + options_.master.name() + ")";
  const std::string limit =
      seconds_text(first ? options_.wait : options_.wait_lost) + " (" +
      why_waiting() + ")";
  if (first)
    throw Error{Code::kUnavailable,
                "no answer from " + where + " within " + limit};
  throw Error{Code::kTryAgain,
              "the master at " + where + " did not come back within " + limit};
}

void MasterConnection::open(const std::string& endpoint) {
  if (socket_ && !socket_->damage().empty() && ++damages_ >= kMostDamages)
    throw Error{Code::kProtocol, endpoint_ + ": " + socket_->damage() +
                                     "; that ended " +
                                     std::to_string(damages_) + " connections"};
  bytes_in_ = bytes_in();
  bytes_out_ = bytes_out();
  socket_.reset();
  endpoint_ = endpoint;
  envelope_ = Envelope{};
  posted_.clear();
  greeted_ = false;
  if (endpoint_.empty()) return;
  Security security = options_.security;
  if (has_keys(security)) {
    security.given = keys_ = read_keys();
    security.proven = let_in_;
  }
  socket_ = std::make_unique<DealerSocket>(endpoint_, security, log_, carrier_);
  socket_->expect({.from = kFromMaster}, {.from = kFromWorker});
}

// They may be others by now.
WorkerKeys MasterConnection::read_keys() const {
  const Security& security = options_.security;
  return security.given ? *security.given : read_worker_keys(security.keys);
}

bool MasterConnection::keys_changed() const {
  return has_keys(options_.security) && text_of(read_keys()) != text_of(keys_);
}

// Where the master is now; what a file has from before is not of our run.
std::string MasterConnection::look_up() {
  MasterAddress::Seen seen = options_.master.look();
  if (!finished_before_) finished_before_ = seen.over;
  over_ = !seen.over.empty() && seen.over != *finished_before_;
  if (seen.endpoint.empty()) status_ = seen.why;
  return seen.endpoint;
}

// Waits at one address until a master answers there; false when the address
// has changed or the time is up.
bool MasterConnection::try_endpoint(const Hello& hello, double deadline,
                                    double& notice,
                                    const std::function<void()>& check,
                                    Received& answer) {
  const std::string endpoint = look_up();
  if (over_) return false;
  open(endpoint);
  double look = monotonic_seconds() + kLookUpSeconds;
  while (monotonic_seconds() < deadline) {
    check();
    note_waiting(deadline, notice);
    if (monotonic_seconds() >= look) {
      if (look_up() != endpoint_ || over_) return false;
      look = monotonic_seconds() + kLookUpSeconds;
    }
    if (socket_) {
      try {
        if (greet(hello, answer)) return true;
      } catch (const Error& error) {
        if (error.code() != Code::kNotAuthorised || !keys_changed()) throw;
        open(std::string(endpoint_));
      }
    } else {
      readable(options_.stop, static_cast<int>(kLook.count()));
    }
  }
  return false;
}

// Looks for an answer, and says hello to whoever is there and has not heard it.
bool MasterConnection::greet(const Hello& hello, Received& answer) {
  const std::array<int, 1> wake{options_.stop};
  const Socket* const socket = socket_.get();
  wait_for_any({&socket, 1}, std::span(wake.data(), options_.stop >= 0 ? 1 : 0),
               kLook);
  auto received = socket_->receive(milliseconds(0));
  if (received) {
    const Message& message = received->message;
    if (message.type == MessageType::kRefuse) refuse(message);
    if (message.type == MessageType::kWelcome) {
      const Welcome welcome = Welcome::from_message(message);
      let_in_ = true;
      envelope_.fence = received->envelope.fence;
      envelope_.run = welcome.run;
      envelope_.worker = welcome.worker;
      agree(welcome);
    }
    if (message.type == MessageType::kWelcome ||
        message.type == MessageType::kStop) {
      answer = std::move(*received);
      return true;
    }
  }
  if (socket_->lost()) {
    open(std::string(endpoint_));
    return false;
  }
  if (greeted_ && monotonic_seconds() - greeted_at_ > kAnswerSeconds) {
    open(std::string(endpoint_));
    return false;
  }
  if (!socket_->connected() || greeted_) return false;
  if (failpoint("worker.other_version")) ++envelope_.protocol;
  greeted_ = send(hello.to_message(), kHelloLimit);
  greeted_at_ = monotonic_seconds();
  return false;
}

// On what messages may be.  The master hears why if that cannot be.
void MasterConnection::agree(const Welcome& welcome) {
  Sizes sizes = welcome.sizes;
  sizes.shards = welcome.training.size();
  sizes.load = kLongestLoad;
  if (!welcome.evaluation.empty()) sizes.evaluations = kMaxBody;
  const Expected sent{.from = kFromWorker, .sizes = sizes};
  socket_->expect({.from = kFromMaster, .sizes = sizes}, sent);
  try {
    check_takes("the master at " + endpoint_, welcome.takes, sent);
  } catch (const Error& error) {
    send(Leave{error.what()}.to_message(), kHelloLimit);
    throw;
  }
}

void MasterConnection::refuse(const Message& message) const {
  const Refuse refuse = Refuse::from_message(message);
  throw Error{static_cast<Code>(refuse.code),
              "the master at " + endpoint_ + " refuses: " + refuse.reason};
}

template <typename Send>
bool MasterConnection::send_telling(const Message& message, const Send& send) {
  ++envelope_.sequence;
  try {
    return send();
  } catch (const Error& error) {
    const bool unfit =
        error.code() == Code::kConfig || error.code() == Code::kBug;
    if (unfit && message.type != MessageType::kLeave)
      this->send(Leave{error.what()}.to_message(), kHelloLimit);
    throw;
  }
}

bool MasterConnection::send(const Message& message, milliseconds wait) {
  return send_telling(message,
                      [&] { return socket_->send(message, envelope_, wait); });
}

void MasterConnection::send_posted() {
  while (!posted_.empty()) {
    const SharedMessage& front = posted_.front();
    if (!send_telling(*front, [&] { return socket_->offer(front, envelope_); }))
      return;
    posted_.pop_front();
  }
}

bool MasterConnection::send_all_posted(milliseconds wait) {
  while (!posted_.empty()) {
    if (!send(*posted_.front(), wait)) return false;
    posted_.pop_front();
  }
  return true;
}

bool MasterConnection::is_of_this_run(const Received& received) const {
  return envelope_.run.empty() || received.envelope.run == envelope_.run;
}

std::string MasterConnection::loss() const {
  return "lost the master at " + endpoint_ + " (" + socket_->status() +
         "); waiting up to " + seconds_text(options_.wait_lost) + " for it";
}

// Not before somebody is told: a master takes the question for a stranger.
std::string MasterConnection::why_waiting() const {
  if (!socket_) return status_;
  return socket_->connected() ? "connected, but it does not answer"
                              : socket_->status();
}

void MasterConnection::note_waiting(double deadline, double& notice) const {
  const double now = monotonic_seconds();
  if (now < notice) return;
  notice = now + kNoticeSeconds;
  log_(Level::kInfo,
       "waiting for " +
           (endpoint_.empty() ? options_.master.name() : endpoint_) + " (" +
           why_waiting() + "), " +
           std::to_string(static_cast<std::int64_t>(deadline - now)) +
           " s left");
}

std::uint64_t MasterConnection::bytes_in() const {
  return bytes_in_ + (socket_ ? socket_->bytes_in() : 0);
}

std::uint64_t MasterConnection::bytes_out() const {
  return bytes_out_ + (socket_ ? socket_->bytes_out() : 0);
}

}  // namespace dl::cluster
