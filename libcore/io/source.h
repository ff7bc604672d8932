// Byte sources: what a tool's input operand names.
//
// Every tool takes its inputs as source specs:
//
//   -              standard input
//   PATH           a file, FIFO or device
//   pipe:COMMAND   the standard output of `sh -c COMMAND`
//
// What lies on a disk is never code: a file that is called "pipe:..." is read,
// whether a pattern of ours, the shell's or the user named it.
//
// A Source gives the bytes as they are.  io/decompress.h puts gzip and
// zstd, recognized by magic number, in front of a reader of raw files; the
// frames of a DataSet stream are data/format/stream.h's business.  A spec is
// code
// ("pipe:" runs a shell): it may come from the command line, never from the
// contents of a file or from a peer.
//
// For users this is documented in dl(7).  A Source is not thread-safe.

#ifndef DL_LIBCORE_IO_SOURCE_H_
#define DL_LIBCORE_IO_SOURCE_H_

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dl::io {

class Source {
 public:
  // Gives up silently.  Call close() first to hear about errors.
  virtual ~Source() = default;

  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Fills the front of buf and returns the number of bytes put there; 0 means
  // end of input and nothing else.  Short reads are normal.
  //
  // Throws Error: kIo, the device failed.
  virtual std::size_t read(std::span<std::byte> buf) = 0;

  // Releases the source and reports what could not be known earlier.
  //
  // A "pipe:" command's exit status counts only if its output was read to the
  // end.  A reader that stops early makes the command die of SIGPIPE, or
  // complain about it; that is our doing and not an error.
  //
  // Throws Error: kIo, the command failed.  A second call does nothing.
  virtual void close() = 0;

  // Whether read() gives something, or the end, without waiting for others.
  // True where that cannot be known.
  virtual bool ready() { return true; }

  // From now on read() throws Error{kIo} in place of waiting when the
  // descriptor `stop`, which outlives the source's use, has become readable.
  // Sources that never wait for others may ignore it.
  virtual void stop_at(int stop) { static_cast<void>(stop); }

  // How to name this source in a message: "standard input", "'a.dls'".
  const std::string& name() const noexcept { return name_; }

 protected:
  explicit Source(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

// Whether spec names a file, a FIFO or a device, that is: neither standard
// input nor a command.
bool names_file(std::string_view spec);
// Whether it names a regular file that is there; info: what stat(2) says of it.
// To open a FIFO would disturb its writer.
bool is_regular(const std::string& spec, struct stat& info);

// Opens what spec names; never returns null.
//
// Throws Error: kNoInput, it cannot be opened.  kUsage, spec is empty, is "-"
// while standard input is a terminal, or is "pipe:" while DL_NO_PIPE=1.
std::unique_ptr<Source> open_source(std::string_view spec);

// Opens the file of this name, which is no spec.
// Throws Error: kNoInput, it cannot be opened.
std::unique_ptr<Source> open_file(const std::string& path);

// Source specs of an operand list: a pattern such as 'train-*.dls' becomes the
// files it matches, in byte order; everything else stays as it is.  A file
// whose name has '*' in it is meant if it exists.  A file that is called "-" or
// "pipe:..." becomes "./-" or "./pipe:...", which means it in every spec.
//
// Throws Error: kNoInput, a pattern matches nothing.
std::vector<std::string> expand_operands(const std::vector<std::string>& specs);

// Reads until buf is full or the input ends; returns the bytes put there.
std::size_t read_full(Source& source, std::span<std::byte> buf);

// The whole of a small input.  Throws Error: kData, it has more than max bytes.
std::string read_all(Source& source, std::size_t max_bytes);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_SOURCE_H_
