// Messages that pass between a worker's threads, and those that must not.

#include "libcore/cluster/worker/mailbox.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/data/sample.h"

namespace dl::cluster::mailbox_test {

using std::chrono::milliseconds;

namespace {

Message leave(const std::string& reason) { return Leave{reason}.to_message(); }
std::string reason_of(const Message& message) {
  return Leave::from_message(message).reason;
}
bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) > 0;
}

}  // namespace

TEST_CASE("the outbox sends nothing of an earlier session") {
  Outbox out;
  CHECK_FALSE(readable(out.descriptor()));
  out.begin_session(1);
  out.push(leave("a"));
  CHECK(readable(out.descriptor()));
  CHECK(reason_of(*out.pop(1)) == "a");
  CHECK_FALSE(out.pop(1));
  CHECK_FALSE(readable(out.descriptor()));
  out.poke();
  CHECK(readable(out.descriptor()));
  CHECK_FALSE(out.pop(1));
  CHECK_FALSE(readable(out.descriptor()));

  // Lost, and joined again: the compute thread has not noticed yet.
  out.push(leave("old"));
  CHECK_FALSE(out.pop(2));
  out.push(leave("old too"));
  out.begin_session(2);
  out.push(leave("new"));
  CHECK(reason_of(*out.pop(2)) == "new");
  CHECK_FALSE(out.pop(2));
}

TEST_CASE("the inbox begins anew with each Welcome") {
  Inbox in;
  in.begin_session(1, leave("welcome"));
  CHECK(in.push(leave("x")));
  CHECK(in.pop(false)->session == 1);
  in.begin_session(2, leave("welcome again"));
  const auto got = in.pop(true);
  CHECK(got->session == 2);
  CHECK(reason_of(got->message) == "welcome again");
  CHECK_FALSE(in.pop(false));
}

TEST_CASE("the inbox is bounded and can be woken") {
  constexpr std::size_t kMost = 1 << 20;
  Inbox in(kMost);
  Message big = leave("big");
  big.blobs.emplace_back(kMost / 2 + 1);
  CHECK(in.push(big));
  CHECK(in.push(big));
  CHECK_FALSE(in.push(big));
  CHECK(in.pop(false));
  CHECK(in.pop(false));
  CHECK(in.push(leave("small")));
  in.pop(false);
  std::thread waker([&] { in.wake(); });
  CHECK_FALSE(in.pop(true));
  waker.join();
}

TEST_CASE("one message may be larger than all that may wait") {
  constexpr std::size_t kMost = 1 << 20;
  Inbox in(kMost);
  Message state = leave("state");
  state.blobs.emplace_back(5 * kMost);
  in.begin_session(1, leave("welcome"));
  CHECK(in.push(state));
  CHECK(in.push(leave("task")));
  CHECK(in.push(leave("another")));
  Message rest = leave("rest");
  rest.blobs.emplace_back(kMost);
  CHECK_FALSE(in.push(rest));
}

TEST_CASE("a fetch gets its record, or the reason why not") {
  Outbox out;
  RecordFetcher fetcher(out);
  const Fetch wanted{true, 3, 4};

  std::thread master([&] {
    while (!readable(out.descriptor())) std::this_thread::yield();
    const auto message = out.pop(0);
    const Fetch got = Fetch::from_message(*message);
    fetcher.deliver(
        {got.evaluation, got.shard, got.record + 1, {}});  // not this
    fetcher.deliver({got.evaluation, got.shard, got.record, {std::byte{9}}});
  });
  CHECK(fetcher.fetch(wanted, milliseconds(60000)) ==
        std::vector<std::byte>{std::byte{9}});
  master.join();

  CHECK(sample::has(
      sample::fault_of([&] { fetcher.fetch(wanted, milliseconds(1)); },
                       dl::Code::kTryAgain),
      "did not send it"));

  while (out.pop(0)) continue;  // the question that was given up
  std::thread refuser([&] {
    while (!readable(out.descriptor())) std::this_thread::yield();
    while (out.pop(0)) continue;
    fetcher.deliver({true, 3, 4, {}});
  });
  CHECK(sample::has(
      sample::fault_of([&] { fetcher.fetch(wanted, milliseconds(60000)); }),
      "the master cannot read it either"));
  refuser.join();

  std::thread closer([&] { fetcher.close(); });
  CHECK(sample::has(
      sample::fault_of([&] { fetcher.fetch(wanted, milliseconds(60000)); },
                       dl::Code::kTryAgain),
      "gone"));
  closer.join();
  CHECK(fetcher.closed());
  fetcher.open();
  CHECK_FALSE(fetcher.closed());
}

}  // namespace dl::cluster::mailbox_test
