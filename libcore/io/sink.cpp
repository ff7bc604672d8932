// Sinks: standard output and files that appear when complete.

#include "libcore/io/sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/io/own_file.h"
#include "libcore/io/temporary.h"
#include "libcore/io/temporary_name.h"

namespace dl::io {
namespace {

[[noreturn]] void fail(Code code, const char* what, const std::string& name) {
  throw Error{code, std::string("cannot ") + what + " " + name + ": " +
                        std::strerror(errno)};
}

// Standard output, FIFOs and devices.
class FdSink : public Sink {
 public:
  FdSink(int fd, std::string name) : Sink(std::move(name)), fd_(fd) {}
  ~FdSink() override { release(); }

  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(Code::kIo, "write", name());
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  void close() override {
    if (fd_ > STDERR_FILENO && ::close(std::exchange(fd_, -1)) != 0)
      fail(Code::kIo, "write", name());
  }

 protected:
  int fd() const { return fd_; }
  void release() noexcept {
    if (fd_ > STDERR_FILENO) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// A file under a temporary name until it is whole.
class FileSink : public FdSink {
 public:
  FileSink(int fd, std::unique_ptr<Temporary> temporary, std::string path)
      : FdSink(fd, in_quotes(path)),
        temporary_(std::move(temporary)),
        path_(std::move(path)) {}

  void close() override {
    if (!temporary_) return;
    if (::fsync(fd()) != 0) fail(Code::kIo, "write", name());
    FdSink::close();
    temporary_->rename_to(path_);
    temporary_.reset();
    sync_folder_of(path_);
  }

 private:
  std::unique_ptr<Temporary> temporary_;
  std::string path_;
};

struct NewFile {
  std::string path;  // where it goes: symbolic links of ours are followed
  std::unique_ptr<Temporary> temporary = nullptr;
  int fd = -1;
};

// Keeps the permissions of a file of this user that is replaced.
NewFile create(const std::string& path, bool sweep) {
  struct stat info {};
  NewFile file{follow_own_links(path)};
  const bool exists = ::lstat(file.path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail(Code::kCantCreate, "create", in_quotes(path));
  }
  if (sweep) remove_abandoned(file.path);
  file.temporary = std::make_unique<Temporary>(temporary_name(file.path));
  file.fd = ::open(file.temporary->path().c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd < 0) fail(Code::kCantCreate, "create", in_quotes(path));
  if (exists && info.st_uid == ::geteuid())
    (void)!::fchmod(file.fd, info.st_mode & 0777);
  return file;
}

// Another user may have put a file there since it was looked at.
std::unique_ptr<Sink> open_in_place(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail(Code::kCantCreate, "open", in_quotes(path));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || S_ISREG(info.st_mode)) {
    ::close(fd);
    throw Error{Code::kCantCreate,
                "cannot open " + in_quotes(path) + ": it was replaced"};
  }
  return std::make_unique<FdSink>(fd, in_quotes(path));
}

}  // namespace

std::unique_ptr<Sink> open_sink(std::string_view spec) {
  if (spec.empty())
    throw Error{Code::kUsage, "the name of the output is empty"};
  if (spec == "-") {
    if (::isatty(STDOUT_FILENO))
      throw Error{Code::kUsage,
                  "standard output is a terminal; name a file or use a pipe"};
    return std::make_unique<FdSink>(STDOUT_FILENO, "standard output");
  }
  const std::string path(spec);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISDIR(info.st_mode))
    return open_in_place(path);
  NewFile file = create(path, true);
  return std::make_unique<FileSink>(file.fd, std::move(file.temporary),
                                    std::move(file.path));
}

void write_whole(std::string_view spec, std::span<const std::byte> bytes) {
  const auto sink = open_sink(spec);
  sink->write(bytes);
  sink->close();
}

namespace {

// Makes files durable: a few one by one, as they are closed; many that lie in
// one file system all at once, as a hundred thousand flushes take minutes.
class Flush {
 public:
  Flush() = default;
  ~Flush() {
    if (folder_ >= 0) ::close(folder_);
  }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;

  // A file is about to be written there: the kernel tells of errors since then.
  void begin(const std::string& path) {
    if (folder_ >= 0) return;
    folder_ =
        ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info {};
    if (folder_ >= 0 && ::fstat(folder_, &info) == 0) device_ = info.st_dev;
  }
  bool closing(int fd) {
    struct stat info {};
    if (++files_ <= kFlushedAlone || ::fstat(fd, &info) != 0 ||
        info.st_dev != device_)
      return ::fsync(fd) == 0;
    wait_ = true;
    return true;
  }
  bool finish() {
    return !std::exchange(wait_, false) || ::syncfs(folder_) == 0;
  }

 private:
  static constexpr std::size_t kFlushedAlone = 256;

  int folder_ = -1;
  std::optional<dev_t> device_;
  std::size_t files_ = 0;
  bool wait_ = false;  // some are not flushed yet
};

}  // namespace

struct SinkGroup::State {
  struct File {
    std::unique_ptr<Temporary> temporary;
    std::string asked, path;  // path: symbolic links followed
    bool complete = false;
  };
  std::vector<std::unique_ptr<File>> files;
  Flush flush;
};

namespace {

// Closed here, renamed by its group.
class GroupSink : public FdSink {
 public:
  GroupSink(int fd, const std::string& path, Flush& flush, bool& complete)
      : FdSink(fd, in_quotes(path)), flush_(flush), complete_(complete) {}

  void close() override {
    if (complete_) return;
    if (!flush_.closing(fd())) fail(Code::kIo, "write", name());
    FdSink::close();
    complete_ = true;
  }

 private:
  Flush& flush_;
  bool& complete_;
};

// A signal that ends the process finds all names changed, or none.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

SinkGroup::SinkGroup() : state_(std::make_unique<State>()) {}
SinkGroup::~SinkGroup() = default;

std::unique_ptr<Sink> SinkGroup::open(const std::string& path) {
  NewFile file = create(path, false);  // as its header says
  auto entry = std::make_unique<State::File>();
  entry->temporary = std::move(file.temporary);
  entry->asked = path;
  entry->path = std::move(file.path);
  state_->flush.begin(entry->path);
  auto sink = std::make_unique<GroupSink>(file.fd, path, state_->flush,
                                          entry->complete);
  state_->files.push_back(std::move(entry));
  return sink;
}

void SinkGroup::publish(const std::vector<std::string>& old) {
  for (const auto& file : state_->files)
    require(file->complete, "a file is published before it is closed");
  if (!state_->flush.finish())
    fail(Code::kIo, "write", in_quotes(state_->files.front()->path));
  const HeldSignals held;
  std::set<std::string> published;
  for (const auto& file : state_->files) {
    failpoint("publish.rename");
    file->temporary->rename_to(file->path);
    published.insert(file->asked);
  }
  for (const std::string& path : old)
    if (!published.contains(path) && ::unlink(path.c_str()) != 0 &&
        errno != ENOENT)
      fail(Code::kIo, "remove", in_quotes(path));
  if (!state_->files.empty()) sync_folder_of(state_->files.front()->path);
  state_->files.clear();
}

}  // namespace dl::io
