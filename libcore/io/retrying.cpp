#include "libcore/io/retrying.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/io/digest.h"

namespace dl::io {
namespace {

class Retrying : public Source {
 public:
  Retrying(std::string spec, std::unique_ptr<Source> source,
           std::int64_t retries, Log log)
      : Source(source->name()),
        spec_(std::move(spec)),
        source_(std::move(source)),
        left_(retries),
        log_(std::move(log)) {}

  std::size_t read(std::span<std::byte> buf) override {
    for (;;) {
      const std::size_t n = source_->read(buf);
      if (n > 0 || buf.empty()) {
        given_.add(buf.first(n));
        bytes_ += n;
        return n;
      }
      try {
        source_->close();  // throws if the command failed
        return 0;
      } catch (const Error& e) {
        if (e.code() != Code::kIo || left_ == 0) throw;
        start_again(e.what());
      }
    }
  }

  void close() override { source_->close(); }

 private:
  static constexpr double kFirstWait = 0.5, kLongestWait = 60;

  // Until it has given what it gave before.
  void start_again(std::string why) {
    for (;;) {
      if (log_)
        log_(Level::kWarning,
             why + "; starting it again after " + format("%g s", wait_));
      std::this_thread::sleep_for(std::chrono::duration<double>(wait_));
      wait_ = std::min(2 * wait_, kLongestWait);
      --left_;
      source_ = open_source(spec_);
      try {
        return pass_over();
      } catch (const Error& e) {
        if (e.code() != Code::kIo || left_ == 0) throw;
        why = e.what();
      }
    }
  }

  void pass_over() {
    std::vector<std::byte> buffer(std::size_t{1} << 16);
    Digest again;
    for (std::uint64_t rest = bytes_; rest > 0;) {
      const auto n =
          source_->read(std::span(buffer).first(static_cast<std::size_t>(
              std::min<std::uint64_t>(rest, buffer.size()))));
      if (n == 0) {
        source_->close();  // throws if it failed again
        break;
      }
      again.add(std::span(buffer).first(n));
      rest -= n;
    }
    if (again.value() != given_.value())
      bad_data(name() +
               " gave other bytes when it was started again; want a command "
               "that gives the same each time");
  }

  std::string spec_;
  std::unique_ptr<Source> source_;
  std::int64_t left_;
  Log log_;
  Digest given_;
  std::uint64_t bytes_ = 0;
  double wait_ = kFirstWait;
};

}  // namespace

std::unique_ptr<Source> open_retrying(const std::string& spec,
                                      std::int64_t retries, Log log) {
  auto source = open_source(spec);
  if (retries < 1 || names_file(spec) || spec == "-") return source;
  return std::make_unique<Retrying>(spec, std::move(source), retries,
                                    std::move(log));
}

}  // namespace dl::io
