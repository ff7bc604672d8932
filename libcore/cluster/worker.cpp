#include "libcore/cluster/worker.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/peers.h"

namespace dl::cluster {
namespace {

using std::chrono::milliseconds;

constexpr double kNoticeSeconds = 10;   // between two lines of waiting
constexpr milliseconds kLook{200};      // between two looks at the socket
constexpr double kLookUpSeconds = 0.5;  // ... at the master's file
constexpr milliseconds kSendLimit{10000};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

double seconds(milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string in_seconds(milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g s", seconds(time));
  return text.data();
}

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&p, 1, 0) > 0;
}

class Worker {
 public:
  Worker(const WorkerOptions& options, const Log& log)
      : options_(options), log_(log), peers_(log) {
    hello_.version = options.version;
    hello_.host = host_name();
    hello_.pid = ::getpid();
    hello_.name = options.name.empty()
                      ? hello_.host + "-" + std::to_string(hello_.pid)
                      : options.name;
    hello_.device = options.trainer.device;
    hello_.threads = options.trainer.threads;
  }

  void run();

 private:
  enum class End { kDone, kLost };

  void compute();
  void connect();
  [[noreturn]] void give_up(bool first) const;
  bool try_endpoint(double deadline, double& notice);
  void await_welcome_or_throw(const Received& received);
  End session();
  End end_session();
  void send_beat(double now);
  void begin_stop();
  void begin_session(const Welcome& welcome, const Message& message);
  std::optional<End> obey(Received received);
  std::optional<End> deliver(std::vector<Message> messages);
  void wait(double most);
  bool send(const Message& message, milliseconds wait);
  bool flush();
  void leave(const std::string& reason);
  void check_stop();
  void note_waiting(double deadline, double& notice);
  void close_socket();
  void report();

  const WorkerOptions& options_;
  const Log& log_;
  Hello hello_;
  Mailbox mail_;
  std::exception_ptr compute_error_;

  std::unique_ptr<DealerSocket> socket_;
  Peers peers_;
  std::string endpoint_, status_;
  Envelope envelope_;
  std::uint64_t session_ = 0;  // counts the Welcomes
  double heartbeat_ = 2;
  double rate_time_ = 0;  // of the last beat, and the examples then
  std::int64_t rate_examples_ = 0;
  bool welcomed_ = false;  // in the connection that is being made
  bool done_ = false;      // the master has no more work
  bool stopping_ = false;
  double start_ = monotonic_seconds();
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;  // of earlier connections
};

// Joins the compute thread whatever happens.
void Worker::run() {
  std::thread thread([this] { compute(); });
  std::exception_ptr error;
  try {
    do {
      connect();
    } while (!done_ && session() == End::kLost);
  } catch (...) {
    error = std::current_exception();
  }
  mail_.leaving = true;
  mail_.fetcher.close();
  mail_.inbox.wake();
  thread.join();
  report();
  if (compute_error_) std::rethrow_exception(compute_error_);
  if (error) std::rethrow_exception(error);
}

void Worker::compute() {
  try {
    Trainer(options_.trainer, mail_, log_).run();
  } catch (...) {
    compute_error_ = std::current_exception();
  }
  mail_.finished = true;
  mail_.outbox.poke();
}

// Returns once a master has let us in.
void Worker::connect() {
  const bool first = session_ == 0;
  const double begin = monotonic_seconds();
  const double deadline =
      begin + seconds(first ? options_.wait : options_.wait_lost);
  double notice = begin + 1;
  failpoint("worker.before_hello");
  while (!try_endpoint(deadline, notice))
    if (monotonic_seconds() >= deadline) give_up(first);
}

void Worker::give_up(bool first) const {
  const std::string where =
      endpoint_.empty() ? options_.master.name() : endpoint_;
  const std::string limit =
      in_seconds(first ? options_.wait : options_.wait_lost) + " (" + status_ +
      ")";
  if (first)
    throw Error{Code::kUnavailable,
                "no answer from " + where + " within " + limit};
  throw Error{Code::kTryAgain,
              "the master at " + where + " did not come back within " + limit};
}

// Waits at one address until a master answers there; false when the address
// has changed or the time is up.
bool Worker::try_endpoint(double deadline, double& notice) {
  endpoint_ = options_.master.look_up(status_);
  close_socket();
  if (!endpoint_.empty())
    socket_ =
        std::make_unique<DealerSocket>(endpoint_, options_.security, log_);
  envelope_ = Envelope{};
  welcomed_ = false;
  bool greeted = false;
  double look = monotonic_seconds() + kLookUpSeconds;
  while (monotonic_seconds() < deadline) {
    check_stop();
    if (mail_.finished && compute_error_)
      std::rethrow_exception(compute_error_);
    note_waiting(deadline, notice);
    if (monotonic_seconds() >= look) {
      std::string why;
      if (options_.master.look_up(why) != endpoint_) return false;
      if (endpoint_.empty()) status_ = why;
      look = monotonic_seconds() + kLookUpSeconds;
    }
    const std::array<int, 1> wake{options_.stop};
    const std::span<const int> wakers(wake.data(), options_.stop >= 0 ? 1 : 0);
    if (!socket_) {
      pollfd p{options_.stop, POLLIN, 0};
      ::poll(&p, wakers.size(), static_cast<int>(kLook.count()));
      continue;
    }
    const auto received = socket_->receive(kLook, wakers);
    if (received) await_welcome_or_throw(*received);
    if (welcomed_ || done_) return true;
    status_ = socket_->connected() ? "connected, but it does not answer"
                                   : socket_->status();
    if (!socket_->connected()) greeted = false;
    if (!socket_->connected() || greeted) continue;
    if (failpoint("worker.other_version")) ++envelope_.protocol;
    greeted = send(hello_.to_message(), milliseconds(1000));
  }
  return false;
}

void Worker::await_welcome_or_throw(const Received& received) {
  const Message& message = received.message;
  if (message.type == MessageType::kRefuse) {
    const Refuse refuse = Refuse::from_message(message);
    throw Error{static_cast<Code>(refuse.code),
                "the master at " + endpoint_ + " refuses: " + refuse.reason};
  }
  if (message.type == MessageType::kStop) {
    done_ = obey(received).has_value();
    return;
  }
  if (message.type != MessageType::kWelcome) return;
  envelope_.fence = received.envelope.fence;
  begin_session(Welcome::from_message(message), message);
}

void Worker::begin_session(const Welcome& welcome, const Message& message) {
  envelope_.run = welcome.run;
  envelope_.worker = welcome.worker;
  heartbeat_ = static_cast<double>(welcome.heartbeat_ms) / 1000;
  log_(Level::kInfo, "joined " + endpoint_ + " as worker " +
                         std::to_string(welcome.worker) + " (" + hello_.name +
                         ")");
  hello_.previous_run = welcome.run;
  mail_.rejoin = false;
  mail_.inbox.begin_session(++session_, message);
  peers_.begin_session(endpoint_, welcome, options_.security.insecure);
  welcomed_ = true;
}

// Serves one master until it is lost or has no more work.
Worker::End Worker::session() {
  double next_beat = 0;
  rate_time_ = monotonic_seconds();
  rate_examples_ = mail_.examples;
  for (;;) {
    const double now = monotonic_seconds();
    if (now >= next_beat) {
      send_beat(now);
      next_beat = now + heartbeat_;
    }
    if (mail_.finished) {
      flush();
      return end_session();
    }
    if (const auto end = deliver(peers_.serve())) return *end;
    const bool sent = flush();
    if (!sent || !socket_->connected()) {
      // Its last words may be here already.
      while (auto received = socket_->receive(milliseconds(0)))
        if (const auto end = obey(std::move(*received))) return *end;
      log_(Level::kWarning, "lost the master at " + endpoint_ + " (" +
                                socket_->status() + "); waiting up to " +
                                in_seconds(options_.wait_lost) + " for it");
      return end_session();
    }
    if (mail_.rejoin) {
      leave("joins again: " + mail_.doing());
      log_(Level::kWarning, "joining again: " + mail_.doing());
      return end_session();
    }
    if (!stopping_ && readable(options_.stop)) begin_stop();
    auto received = socket_->receive(milliseconds(0));
    if (!received)
      wait(next_beat - now);
    else if (const auto end = obey(std::move(*received)))
      return *end;
  }
}

void Worker::send_beat(double now) {
  Beat beat;
  beat.progress = mail_.progress;
  const std::int64_t examples = mail_.examples;
  if (now > rate_time_)
    beat.examples_per_second =
        static_cast<double>(examples - rate_examples_) / (now - rate_time_);
  rate_time_ = now;
  rate_examples_ = examples;
  beat.doing = mail_.doing();
  beat.exchange = mail_.tell_exchange();
  beat.feed = peers_.position();
  // Full: what is queued tells the master as much.
  send(beat.to_message(), milliseconds(0));
}

void Worker::begin_stop() {
  stopping_ = true;
  log_(Level::kInfo, "told to stop: finishing " + mail_.doing());
  mail_.leaving = true;
  mail_.fetcher.close();
  mail_.inbox.wake();
}

// The master is lost, or the compute thread has ended.
Worker::End Worker::end_session() {
  mail_.fetcher.close();
  if (!mail_.finished) return End::kLost;
  if (compute_error_) {
    try {
      std::rethrow_exception(compute_error_);
    } catch (const std::exception& e) {
      leave(e.what());
    }
    return End::kDone;  // run() throws it
  }
  leave("told to stop");
  throw Error{Code::kTryAgain,
              "told to stop; what was unfinished is the master's again"};
}

// Does what a message says.  Nothing: go on.
std::optional<Worker::End> Worker::obey(Received received) {
  Message& message = received.message;
  if (!envelope_.run.empty() && received.envelope.run != envelope_.run)
    return std::nullopt;  // left over from another run
  switch (message.type) {
    case MessageType::kStop: {
      const Stop stop = Stop::from_message(message);
      leave("told to stop by the master");
      if (stop.code != 0)
        throw Error{static_cast<Code>(stop.code),
                    "the master stopped: " + stop.reason};
      log_(Level::kInfo, "the master is done: " + stop.reason);
      return End::kDone;
    }
    case MessageType::kRefuse:
      await_welcome_or_throw(received);
      return std::nullopt;
    case MessageType::kRecord:
      mail_.fetcher.deliver(Record::from_message(message));
      return std::nullopt;
    case MessageType::kState:
    case MessageType::kTask:
    case MessageType::kRound:
    case MessageType::kApply:
    case MessageType::kStale:
    case MessageType::kCheck:
    case MessageType::kStatistics:
    case MessageType::kProbe:
    case MessageType::kPlace:
    case MessageType::kListen:
    case MessageType::kReduce:
    case MessageType::kDirect:
      return deliver(peers_.from_master(std::move(received)));
    default:
      return std::nullopt;  // not for workers
  }
}

// Hands messages to the compute thread.  Nothing: go on.
std::optional<Worker::End> Worker::deliver(std::vector<Message> messages) {
  bool room = !peers_.overfull();
  for (Message& message : messages)
    room = room && mail_.inbox.push(std::move(message));
  if (room) return std::nullopt;
  leave("fell too far behind");
  log_(Level::kWarning, "fell too far behind; joining again");
  mail_.fetcher.close();
  return End::kLost;
}

// Until something is to be done, or the time is over.
void Worker::wait(double most) {
  std::vector<const Socket*> sockets = {socket_.get()};
  most = std::min(most, peers_.collect(sockets));
  const std::array<int, 2> wake{mail_.outbox.descriptor(), options_.stop};
  const bool watch_stop = options_.stop >= 0 && !stopping_;
  wait_for_any(sockets, std::span(wake.data(), watch_stop ? 2 : 1),
               milliseconds(std::max<std::int64_t>(
                   1, static_cast<std::int64_t>(most * 1000))));
}

bool Worker::send(const Message& message, milliseconds wait) {
  ++envelope_.sequence;
  return socket_->send(message, envelope_, wait);
}

// Sends what the compute thread and other workers have for the master.  False:
// it is lost.
bool Worker::flush() {
  bool sent = true;
  const auto send_peers = [&] {
    for (const Message& message : peers_.take_for_master())
      sent = sent && send(message, kSendLimit);
  };
  send_peers();
  while (auto message = mail_.outbox.pop(session_)) {
    if (message->type == MessageType::kResult)
      peers_.take_result(std::move(*message));
    else
      sent = sent && send(*message, kSendLimit);
    send_peers();
    if (!sent) break;
  }
  return sent;
}

void Worker::leave(const std::string& reason) {
  send(Leave{reason}.to_message(), milliseconds(1000));
}

// While no master has let us in, there is nothing to finish.
void Worker::check_stop() {
  if (readable(options_.stop))
    throw Error{Code::kTryAgain,
                "told to stop while waiting for " + options_.master.name()};
}

void Worker::note_waiting(double deadline, double& notice) {
  const double now = monotonic_seconds();
  if (now < notice) return;
  notice = now + kNoticeSeconds;
  log_(Level::kInfo,
       "waiting for " +
           (endpoint_.empty() ? options_.master.name() : endpoint_) + " (" +
           status_ + "), " +
           std::to_string(static_cast<std::int64_t>(deadline - now)) +
           " s left");
}

void Worker::close_socket() {
  if (!socket_) return;
  bytes_in_ += socket_->bytes_in();
  bytes_out_ += socket_->bytes_out();
  socket_.reset();
}

void Worker::report() {
  close_socket();
  if (session_ == 0) return;
  log_(Level::kInfo,
       std::to_string(mail_.progress) + " mini-batches, " +
           std::to_string(mail_.examples) + " examples in " +
           std::to_string(
               static_cast<std::int64_t>(monotonic_seconds() - start_)) +
           " s; sent " + std::to_string(bytes_out_ + peers_.bytes_out()) +
           " bytes, received " + std::to_string(bytes_in_ + peers_.bytes_in()));
}

}  // namespace

void run_worker(const WorkerOptions& options, const Log& log) {
  Worker(options, log).run();
}

}  // namespace dl::cluster
