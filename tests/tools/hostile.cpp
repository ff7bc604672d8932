// hostile ENDPOINT MASTER_PID ATTACK...: a worker that breaks the protocol, for
// the tests hostile-*.sh.  Prints for each attack what became of the
// connection, and the peak of the master's memory after it.

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/unique.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/transport/transport.h"
#include "tests/unit/cluster/transport/raw_peer.h"

namespace {

using namespace dl;
using namespace dl::cluster;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Message hello() {
  Hello hello;
  hello.host = "nowhere";
  hello.pid = ::getpid();
  hello.process = unique_number();
  return hello.to_message();
}

// One of each kind, with the numbers of a lease that may be another's.
std::vector<Message> from_worker(std::uint64_t lease, std::uint64_t fence) {
  Update update;
  update.lease = lease;
  update.fence = fence;
  Result result;
  result.lease = lease;
  result.fence = fence;
  TaskDone done;
  done.lease = lease;
  done.fence = fence;
  Reduced reduced;
  reduced.counts = {{lease, fence, 10, 1}};
  return {Ready{}.to_message(),
          result.to_message(),
          update.to_message(),
          done.to_message(),
          Beat{}.to_message(),
          Fetch{true, 7, 7}.to_message(),
          Digest{}.to_message(),
          Fault{lease, fence, 3, "so it says"}.to_message(),
          Probed{}.to_message(),
          Listening{"tcp://127.0.0.1:9"}.to_message(),
          Fed{1, 1, 1, ""}.to_message(),
          reduced.to_message()};
}
std::vector<Message> from_master() {
  State state;
  state.parameters.assign(100'000, kNan);
  return {
      Welcome{}.to_message(), Refuse{}.to_message(),  state.to_message(),
      Task{}.to_message(),    Apply{}.to_message(),   Stale{}.to_message(),
      Record{}.to_message(),  Check{}.to_message(),   Statistics{}.to_message(),
      Round{}.to_message(),   Probe{}.to_message(),   Place{}.to_message(),
      Listen{2}.to_message(), Reduce{}.to_message(),  Direct{}.to_message(),
      Rejoin{}.to_message(),  Alive{}.to_message(),   Stop{}.to_message(),
      Attach{}.to_message(),  Feeding{5}.to_message()};
}

// A connection, after Welcome if that is asked for.
class Peer {
 public:
  explicit Peer(const std::string& endpoint) : socket_(endpoint, {}, {}) {}

  void send(const Message& message) {
    ++envelope.sequence;
    socket_.send(message, envelope, 500ms);
  }
  void join(bool ready) {
    send(hello());
    const auto answer = await(MessageType::kWelcome);
    if (!answer) return;
    const Welcome welcome = Welcome::from_message(answer->message);
    envelope.run = welcome.run;
    envelope.worker = welcome.worker;
    envelope.fence = answer->envelope.fence;
    if (ready) send(Ready{}.to_message());
  }
  std::optional<Received> await(MessageType type) {
    const auto end = steady_clock::now() + 1s;
    while (steady_clock::now() < end && !socket_.lost())
      if (auto received = socket_.receive(20ms);
          received && received->message.type == type)
        return received;
    return std::nullopt;
  }
  std::string outcome() {
    std::map<std::string, int> heard;
    const auto end = steady_clock::now() + 300ms;
    try {
      while (steady_clock::now() < end)
        if (const auto received = socket_.receive(20ms))
          ++heard[std::string(name_of(received->message.type))];
    } catch (const Error& error) {
      return error.what();
    }
    std::string text = socket_.lost() ? "connection ended" : "passed over";
    for (const auto& [name, count] : heard)
      text += ", " + std::to_string(count) + " " + name;
    return text;
  }

  Envelope envelope;

 private:
  DealerSocket socket_;
};

using Attack = std::function<std::string(const std::string& endpoint)>;

// Sends the messages after joining, or not.
std::string say(const std::string& endpoint, bool join, bool ready,
                const std::vector<Message>& messages,
                const std::function<void(Envelope&)>& change = {}) {
  Peer peer(endpoint);
  if (join)
    peer.join(ready);
  else
    peer.envelope.run = std::string(32, '7');
  if (change) change(peer.envelope);
  for (const Message& message : messages) peer.send(message);
  return peer.outcome();
}

Message maps(Message message, std::size_t bytes) {
  message.body = Json::array();
  for (std::size_t i = 0; i < bytes; ++i)
    message.body.push_back(Json::object());
  return message;
}

// Takes tasks, and answers each with what `answer` makes of it, twice.
std::string misdo(const std::string& endpoint,
                  const std::function<Message(const Task&)>& answer) {
  Peer peer(endpoint);
  peer.join(true);
  for (int i = 0; i < 4; ++i) {
    const auto received = peer.await(MessageType::kTask);
    if (!received) break;
    const Message message = answer(Task::from_message(received->message));
    peer.send(message);
    peer.send(message);
  }
  return peer.outcome();
}

// A message without an end, of frames of so many bytes.
std::string flood(const std::string& endpoint, bool join, std::size_t bytes) {
  RawPeer peer(endpoint);
  if (join) peer.message(hello(), {});
  ::usleep(300'000);
  const std::vector<std::byte> frame(bytes);
  std::uint64_t sent = 0;
  while (sent < (std::uint64_t{1} << 30)) {
    const bool alive =
        bytes > 0 ? peer.frame(frame, true) : peer.empty_frames(1 << 15);
    if (!alive) return "connection ended";
    sent += bytes > 0 ? bytes : 2 << 15;
  }
  return "1 GiB went through";
}

// A good message whose header says something else.
std::string lie(const std::string& endpoint) {
  RawPeer peer(endpoint);
  peer.message(hello(), {});
  Frames frames = encode(Beat{}.to_message(), {}, kMaxFrame);
  for (const std::size_t at : {48, 52, 56, 72, 80})
    for (const int byte : {0, 1, 127, 255}) {
      std::vector<std::byte> header = frames[0];
      for (std::size_t i = 0; i < 4; ++i)
        header[at + i] = static_cast<std::byte>(byte);
      peer.frame(header, true);
      peer.frame(frames[1], false);
    }
  return peer.alive() ? "passed over" : "connection ended";
}

std::string one_frame(const std::string& endpoint, std::size_t bytes) {
  RawPeer peer(endpoint);
  peer.message(hello(), {});
  peer.frame(std::vector<std::byte>(bytes), false);
  ::usleep(100'000);
  peer.frame({}, false);
  peer.frame({}, false);
  return peer.alive() ? "passed over" : "connection ended";
}

Message bad_update(const Task& task, float value) {
  Update update;
  update.lease = task.lease;
  update.fence = task.fence;
  update.batch = task.first;
  update.examples = 10;
  update.quanta = 1;
  // dl-protocol(7): one quantum of that size.
  update.payload.resize(21);
  const unsigned char code[] = {1, 0, 1, 0, 59, 0,  0, 0,
                                0, 0, 0, 0, 0,  59, 1, 6};
  std::memcpy(update.payload.data(), code, sizeof code);
  std::memcpy(update.payload.data() + 16, &value, 4);
  return update.to_message();
}

Message bad_result(const Task& task, float value) {
  Result result;
  result.lease = task.lease;
  result.fence = task.fence;
  result.round = task.slot.round;
  result.slot = task.slot.index;
  result.examples = 10 * task.count;
  result.delta.resize(12 + std::size_t{4} * 59);
  result.delta[0] = std::byte{1};
  result.delta[4] = std::byte{59};
  for (std::size_t i = 12; i < result.delta.size(); i += 4)
    std::memcpy(result.delta.data() + i, &value, 4);
  return result.to_message();
}

std::vector<Message> repeated(const Message& message, int times) {
  return std::vector<Message>(static_cast<std::size_t>(times), message);
}

std::vector<Message> stolen() {
  std::vector<Message> all;
  for (std::uint64_t lease = 1; lease <= 60; ++lease)
    for (const Message& message : from_worker(lease, 1))
      if (message.type == MessageType::kResult ||
          message.type == MessageType::kUpdate ||
          message.type == MessageType::kTaskDone)
        all.push_back(message);
  return all;
}

Message long_update() {
  Update update;
  update.payload.resize(std::size_t{64} << 20);
  return update.to_message();
}

Message many_blobs() {
  Message message = Update{}.to_message();
  message.blobs.assign(256, std::vector<std::byte>(1 << 16));
  return message;
}

const std::map<std::string, Attack>& attacks() {
  using S = const std::string&;
  static const std::map<std::string, Attack> all = {
      {"before-hello",
       [](S e) { return say(e, false, false, from_worker(1, 1)); }},
      {"before-ready",
       [](S e) {
         auto messages = from_worker(1, 1);
         messages.erase(messages.begin());
         return say(e, true, false, messages);
       }},
      {"out-of-turn",
       [](S e) { return say(e, true, true, from_worker(1, 1)); }},
      {"as-master", [](S e) { return say(e, true, true, from_master()); }},
      {"hello-thrice",
       [](S e) { return say(e, true, true, repeated(hello(), 3)); }},
      {"stolen-leases", [](S e) { return say(e, true, true, stolen()); }},
      {"as-another",
       [](S e) {
         return say(e, true, true, stolen(), [](Envelope& v) { v.worker = 1; });
       }},
      {"other-run",
       [](S e) {
         return say(e, true, true, stolen(),
                    [](Envelope& v) { v.run = std::string(32, '9'); });
       }},
      {"long-body",
       [](S e) {
         Message message = hello();
         message.body["name"] = std::string(std::size_t{31} << 20, 'x');
         return say(e, false, false, {message});
       }},
      {"empty-maps",
       [](S e) {
         return say(e, false, false, {maps(hello(), std::size_t{8} << 20)});
       }},
      {"empty-maps-in",
       [](S e) {
         return say(e, true, true,
                    {maps(Beat{}.to_message(), std::size_t{8} << 20),
                     maps(TaskDone{}.to_message(), std::size_t{4} << 20)});
       }},
      {"long-update", [](S e) { return say(e, true, true, {long_update()}); }},
      {"many-blobs", [](S e) { return say(e, true, true, {many_blobs()}); }},
      {"endless", [](S e) { return flood(e, false, kMaxFrame); }},
      {"endless-in", [](S e) { return flood(e, true, kMaxFrame); }},
      {"endless-empty", [](S e) { return flood(e, false, 0); }},
      {"endless-empty-in", [](S e) { return flood(e, true, 0); }},
      {"long-frame", [](S e) { return one_frame(e, std::size_t{64} << 20); }},
      {"lengths-lie", lie},
      {"nan-update",
       [](S e) {
         return misdo(e, [](const Task& t) { return bad_update(t, kNan); });
       }},
      {"huge-update",
       [](S e) {
         return misdo(e, [](const Task& t) { return bad_update(t, 1e38F); });
       }},
      {"nan-result",
       [](S e) {
         return misdo(e, [](const Task& t) { return bad_result(t, kNan); });
       }},
      {"huge-result",
       [](S e) {
         return misdo(e, [](const Task& t) { return bad_result(t, 1e38F); });
       }},
  };
  return all;
}

// Most memory that the process had, in MiB.
long peak_of(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      long kib = 0;
      status >> kib;
      return kib / 1024;
    }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  std::vector<std::string> wanted(argv + 3, argv + argc);
  if (wanted.empty())
    for (const auto& [name, attack] : attacks()) wanted.push_back(name);
  for (const std::string& name : wanted) {
    std::string outcome;
    try {
      outcome = attacks().at(name)(argv[1]);
    } catch (const std::exception& error) {
      outcome = error.what();
    }
    std::cout << name << '\t' << outcome << '\t' << peak_of(argv[2])
              << std::endl;
  }
}
