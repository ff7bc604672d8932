#include "libcore/cluster/worker/worker.h"

#include <unistd.h>

#include <array>
#include <cmath>
#include <exception>
#include <optional>
#include <thread>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/host_name.h"
#include "libcore/base/readable.h"
#include "libcore/base/unique.h"
#include "libcore/cluster/tree/peers.h"
#include "libcore/cluster/worker/master_connection.h"
#include "libcore/cluster/worker/process_use.h"
#include "libcore/device/instructions.h"
#include "libcore/device/open.h"

namespace dl::cluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSendLimit{10000};  // for a message of the last ones
constexpr double kLookAgain = 0.002;       // seconds, for room to send
constexpr int kMessagesAtOnce = 64;  // of the master, before others are served

class Worker {
 public:
  Worker(const WorkerOptions& options, const Log& log)
      : options_(options),
        log_(log),
        master_(options, log, carrier_),
        peers_(log, options.network, carrier_) {
    hello_.version = options.version;
    hello_.host = host_name();
    hello_.pid = ::getpid();
    hello_.process = unique_number();
    hello_.name = options.name;
    hello_.rank = options.rank;
    hello_.device = options.trainer.device;
    if (options.trainer.precision != device::Precision::kFloat32)
      hello_.device +=
          " in " + std::string(device::name_of(options.trainer.precision));
    hello_.threads = options.trainer.threads;
    if (hello_.device == "cpu") hello_.instructions = device::instruction_set();
  }

  void run();

 private:
  enum class End { kDone, kLost };

  void compute();
  void connect();
  End session();
  End end_session();
  End give_up_master();
  void measure_rate(double now);
  Beat filled(Beat beat);
  void begin_stop();
  void begin_session(const Message& message);
  std::optional<End> obey(Received received);
  std::optional<End> deliver(std::vector<Message> messages);
  void wait(double most);
  void flush();
  void leave(const std::string& reason, bool returns = false);
  void check() const;
  void report();

  const WorkerOptions& options_;
  const Log& log_;
  Hello hello_;
  Mailbox mail_;
  std::exception_ptr compute_error_;

  Carrier carrier_;
  MasterConnection master_;
  Peers peers_;
  std::uint64_t session_ = 0;  // counts the Welcomes
  double heartbeat_ = 2;
  double silence_ = 60;   // of a master that is lost
  double heard_ = 0;      // of it, when
  double rate_time_ = 0;  // of the last beat, and the examples then
  std::int64_t rate_examples_ = 0;
  ProcessUse use_;
  double rate_ = 0;    // examples a second
  bool done_ = false;  // the master has no more work
  bool stopping_ = false;
  double start_ = monotonic_seconds();
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
  if (options_.ending) options_.ending();
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

// Returns once a master has let us in, or has no work.
void Worker::connect() {
  failpoint("worker.before_hello");
  auto answer = master_.join(hello_, session_ == 0, [this] { check(); });
  if (!answer) {
    log_(Level::kInfo, "the run is finished");
    done_ = true;
  } else if (answer->message.type == MessageType::kWelcome) {
    begin_session(answer->message);
  } else {
    done_ = obey(std::move(*answer)).has_value();
  }
}

// While no master has let us in, there is nothing to finish.
void Worker::check() const {
  if (readable(options_.stop))
    throw Error{Code::kTryAgain,
                "told to stop while waiting for " + options_.master.name()};
  if (mail_.finished && compute_error_) std::rethrow_exception(compute_error_);
}

void Worker::begin_session(const Message& message) {
  const Welcome welcome = Welcome::from_message(message);
  heartbeat_ = static_cast<double>(welcome.heartbeat_ms) / 1000;
  silence_ = static_cast<double>(welcome.silence_ms) / 1000;
  log_(Level::kInfo, "joined " + master_.endpoint() + " as " + welcome.name +
                         " (worker " + std::to_string(welcome.worker) + ")");
  hello_.previous_run = welcome.run;
  mail_.rejoin = false;
  mail_.inbox.begin_session(++session_, message);
  peers_.begin_session(master_.endpoint(), welcome, options_.security.insecure);
}

// Serves one master until it is lost or has no more work.
Worker::End Worker::session() {
  double next_beat = 0;
  rate_time_ = heard_ = monotonic_seconds();
  rate_examples_ = mail_.examples;
  for (;;) {
    const double now = monotonic_seconds();
    if (now >= next_beat) {
      measure_rate(now);
      // Full: what is queued tells the master as much.
      master_.send(filled({}).to_message(), milliseconds(0));
      next_beat = now + heartbeat_;
    }
    if (mail_.finished) {
      flush();
      peers_.give_held();
      flush();
      master_.send_all_posted(kSendLimit);
      return end_session();
    }
    if (const auto end = deliver(peers_.serve())) return *end;
    flush();
    if (!master_.socket().connected()) {
      // Its last words may be here already.
      while (auto received = master_.socket().receive(milliseconds(0)))
        if (const auto end = obey(std::move(*received))) return *end;
      log_(Level::kWarning, master_.loss());
      return end_session();
    }
    if (mail_.rejoin) {
      leave("joins again: " + mail_.doing(), true);
      log_(Level::kWarning, "joining again: " + mail_.doing());
      return end_session();
    }
    if (!stopping_ && readable(options_.stop)) begin_stop();
    bool heard = false;
    for (int i = 0; i < kMessagesAtOnce; ++i) {
      auto received = master_.socket().receive(milliseconds(0));
      if (!received) break;
      heard = true;
      if (const auto end = obey(std::move(*received))) return *end;
    }
    if (heard || master_.socket().flowed()) heard_ = now;
    if (now - heard_ > silence_) return give_up_master();
    wait(heard ? 0 : next_beat - now);
  }
}

void Worker::measure_rate(double now) {
  const std::int64_t examples = mail_.examples;
  if (now > rate_time_)
    rate_ = static_cast<double>(examples - rate_examples_) / (now - rate_time_);
  rate_time_ = now;
  rate_examples_ = examples;
}

// beat: as the compute thread made it, or empty.
Beat Worker::filled(Beat beat) {
  beat.progress = mail_.progress;
  beat.examples_per_second = rate_;
  beat.doing = mail_.doing();
  mail_.meter.add(use_.take());
  beat.exchange = mail_.tell_exchange();
  beat.feed = peers_.position();
  beat.flow = peers_.flow();
  return beat;
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

// It is connected and hangs, or has forgotten us.
Worker::End Worker::give_up_master() {
  log_(Level::kWarning, "heard nothing of the master at " + master_.endpoint() +
                            " for " + std::to_string(std::lround(silence_)) +
                            " s; joining again");
  return end_session();
}

// Does what a message says.  Nothing: go on.
std::optional<Worker::End> Worker::obey(Received received) {
  Message& message = received.message;
  if (message.type == MessageType::kRejoin) {
    const std::string why = Rejoin::from_message(message).why;
    log_(why.empty() ? Level::kWarning : Level::kInfo,
         "the master at " + master_.endpoint() + " " +
             (why.empty() ? "does not count on this worker any more" : why) +
             "; joining again");
    return end_session();
  }
  if (!master_.is_of_this_run(received)) return std::nullopt;
  if (taker_of(message.type) == Taker::kPeers)
    return deliver(peers_.from_master(std::move(received)));
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
      master_.refuse(message);
    case MessageType::kRecord:
      mail_.fetcher.deliver(Record::from_message(message));
      return std::nullopt;
    case MessageType::kAlive:
      if (Alive::from_message(message).batch < 0) return std::nullopt;
      return deliver({std::move(message)});
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
  leave("fell too far behind", true);
  log_(Level::kWarning, "fell too far behind; joining again");
  mail_.fetcher.close();
  return End::kLost;
}

// Until something is to be done, or so many seconds are over; 0: just asks all
// sockets at once what there is.
void Worker::wait(double most) {
  std::vector<const Socket*> sockets = {&master_.socket()};
  most = std::min(most, peers_.collect(sockets));
  if (master_.posted() > 0) most = std::min(most, kLookAgain);
  const std::array<int, 2> wake{mail_.outbox.descriptor(), options_.stop};
  const bool watch_stop = options_.stop >= 0 && !stopping_;
  wait_for_any(sockets, std::span(wake.data(), watch_stop ? 2 : 1),
               milliseconds(static_cast<std::int64_t>(std::ceil(most * 1000))));
}

// Sends what the compute thread and other workers have for the master, as far
// as the connection takes it: what waits for a slow line holds up nothing else.
void Worker::flush() {
  const auto post_peers = [&] {
    for (Message& message : peers_.take_for_master())
      master_.post(std::move(message));
  };
  post_peers();
  while (auto message = mail_.outbox.pop(session_)) {
    if (message->type == MessageType::kPart)
      peers_.take_own(std::move(*message));
    else if (message->type == MessageType::kResult)
      peers_.take_result(std::move(*message));
    else if (message->type == MessageType::kBeat)
      master_.post(filled(Beat::from_message(*message)).to_message());
    else
      master_.post(std::move(*message));
    post_peers();
  }
  master_.send_posted();
  mail_.unsent = master_.posted();
}

void Worker::leave(const std::string& reason, bool returns) {
  failpoint("worker.before_leave");
  master_.send(Leave{reason, returns}.to_message(), milliseconds(1000));
}

void Worker::report() {
  if (session_ == 0) return;
  log_(Level::kInfo,
       std::to_string(mail_.progress) + " mini-batches, " +
           std::to_string(mail_.examples) + " examples in " +
           std::to_string(
               static_cast<std::int64_t>(monotonic_seconds() - start_)) +
           " s; sent " +
           std::to_string(master_.bytes_out() + peers_.bytes_out()) +
           " bytes, received " +
           std::to_string(master_.bytes_in() + peers_.bytes_in()));
}

}  // namespace

void run_worker(const WorkerOptions& options, const Log& log) {
  if (options.network.given())
    own_address(options.network, host_addresses(), log);
  // Before a master counts on it.
  device::open_lanes(options.trainer.device, 1, options.trainer.precision);
  Worker(options, log).run();
}

}  // namespace dl::cluster
