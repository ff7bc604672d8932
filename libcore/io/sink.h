// Byte sinks: where a tool's product goes.
//
//   -      standard output
//   PATH   a file that appears, whole, when close() returns; a reader sees the
//          old file or the new one, never a part.  A FIFO or device is written
//          in place.

#ifndef DL_LIBCORE_IO_SINK_H_
#define DL_LIBCORE_IO_SINK_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dl::io {

class Sink {
 public:
  // Without close() before it: removes what was written, silently.
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Throws Error: kIo, "cannot write 'x': No space left on device".
  virtual void write(std::span<const std::byte> bytes) = 0;

  // Flushes; for a file: fsync, rename to the final name, fsync the folder.
  // Throws Error: kIo or kCantCreate.  A second call does nothing.
  virtual void close() = 0;

  const std::string& name() const noexcept { return name_; }

 protected:
  explicit Sink(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

// Throws Error: kCantCreate, the file cannot be made (folder missing, ...);
// kUsage, "-" is a terminal.
//
// A temporary file is removed when the process dies of SIGINT, SIGTERM or
// SIGHUP in a filter (see remove_unfinished()); one of the same file that a
// process which was killed left is removed here.
std::unique_ptr<Sink> open_sink(std::string_view spec);

// Writes all of such a sink, and closes it.  Throws Error: as these.
void write_whole(std::string_view spec, std::span<const std::byte> bytes);
inline void write_whole(std::string_view spec, std::string_view text) {
  write_whole(spec, std::as_bytes(std::span(text)));
}

// Files that appear together: each is complete, under a temporary name, when
// its close() returns, and takes its final name in publish(), when all are on
// the disk.
class SinkGroup {
 public:
  SinkGroup();
  ~SinkGroup();  // removes what is not published
  // As open_sink() for a PATH that is a file, but what others left stays: a
  // group may be large, so who opens it calls remove_abandoned() once.
  std::unique_ptr<Sink> open(const std::string& path);
  // Renames the files, in the order of their opening, and removes those of
  // `old` that were not replaced.  All sinks are closed.  SIGINT, SIGTERM and
  // SIGHUP wait until it is done, where one thread is all there is.
  // Throws Error: kCantCreate, kIo.
  void publish(const std::vector<std::string>& old = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unlinks the temporary files of all sinks that are open now.
// Async-signal-safe: run_tool's signal handler calls it.
void remove_unfinished() noexcept;

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_SINK_H_
