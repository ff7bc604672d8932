#include "libcore/vectorize/source/ledger_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/own_file.h"
#include "libcore/io/source.h"
#include "libcore/io/temporary.h"
#include "libcore/io/temporary_name.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kMostInteger = INT64_MAX;

}  // namespace

struct LedgerFile::Run {
  std::string begun;  // the output that was being written, or ""
  Json begin;         // the line of the whole output; null: there is none now
  std::int64_t start = 0;
  std::vector<Json> lines;
};

std::string word_of(LedgerBy by) {
  return by == LedgerBy::kName ? "name" : "digest";
}

std::string digest_of_file(const std::string& path, std::int64_t& bytes) {
  const auto source = io::open_file(path);
  io::Digest digest;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  bytes = 0;
  while (const std::size_t n = source->read(buffer)) {
    digest.add(std::span(buffer).first(n));
    bytes += static_cast<std::int64_t>(n);
  }
  return io::hex(digest.value());
}

LedgerFile::LedgerFile(std::string path, LedgerBy by)
    : path_(std::move(path)), name_(in_quotes(path_)), by_(by) {
  file_ = io::open_own(path_, O_RDWR | O_CREAT);
  try {
    lock();
    read();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

LedgerFile::~LedgerFile() {
  if (size_ == 0) ::unlink(path_.c_str());
  ::close(file_);
}

void LedgerFile::lock() {
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  throw Error{Code::kCantCreate,
              errno == EWOULDBLOCK
                  ? "the ledger " + name_ +
                        " is in use by another run; wait for its end"
                  : "cannot lock " + name_ + ": " + std::strerror(errno)};
}

void LedgerFile::append(const std::string& lines) {
  std::string_view rest = lines;
  if (::lseek(file_, size_, SEEK_SET) < 0) rest = {};
  while (!rest.empty()) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  if (!rest.empty() || ::fsync(file_) != 0) {
    const std::string why = std::strerror(errno);
    (void)!::ftruncate(file_, size_);
    throw Error{Code::kIo, "cannot write " + name_ + ": " + why};
  }
  if (size_ == 0) io::sync_folder_of(path_);
  size_ += static_cast<std::int64_t>(lines.size());
}

void LedgerFile::cut(std::int64_t size) {
  if (::ftruncate(file_, size) != 0)
    throw Error{Code::kIo,
                "cannot write " + name_ + ": " + std::strerror(errno)};
  size_ = size;
}

void LedgerFile::read() {
  const auto source = io::open_file(path_);
  std::string text;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  Run run;
  std::size_t lines = 0;
  const auto take_all = [&] {
    std::size_t at = 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos;
         at = end + 1) {
      ++lines;
      try {
        take(text.substr(at, end - at), size_, run);
      } catch (Error& e) {
        e.add_context(name_ + ", line " + std::to_string(lines));
        throw;
      }
      size_ += static_cast<std::int64_t>(end + 1 - at);
    }
    text.erase(0, at);
  };
  while (const std::size_t n = source->read(buffer)) {
    text.append(reinterpret_cast<const char*>(buffer.data()), n);
    take_all();
  }
  // A line without an end was being written when its run was killed.
  if (!run.begin.is_null()) return finish(run);
  if (!run.begun.empty()) {
    io::remove_abandoned(run.begun);
    cut(run.start);
  } else if (!text.empty()) {
    cut(size_);
  }
}

void LedgerFile::take(const std::string& text, std::int64_t start, Run& run) {
  const Json line = parse_json(text, "the ledger", Code::kData);
  const JsonView view(line, Code::kData, "");
  if (start == 0) {
    view.only({"ledger", "by"});
    view.at("ledger").integer(1, 1);
    const std::string by = view.at("by").string();
    if (by != word_of(by_))
      throw Error{Code::kConfig, "the ledger is kept by " + displayed(by) +
                                     "; want --by " + displayed(by)};
  } else if (view.has("begun")) {
    if (!run.begin.is_null() || !run.begun.empty())
      bad_data("the run before it has no end; the ledger is damaged");
    run = {view.at("begun").string(), Json(), start, {}};
  } else if (view.has("output")) {
    view.at("bytes").integer(0, kMostInteger);
    view.at("digest").string();
    view.at("inputs").integer(0, kMostInteger);
    view.at("classes").strings();
    run = {"", line, run.begun.empty() ? start : run.start, {}};
  } else if (run.begin.is_null()) {
    bad_data("it belongs to no run; the ledger is damaged");
  } else if (view.has("in_place")) {
    if (run.begin["inputs"] != run.lines.size())
      bad_data("the run of " +
               in_quotes(run.begin["output"].get<std::string>()) +
               " has lost lines; the ledger is damaged");
    enter(run);
    run = {};
  } else {
    if (view.has("name")) {
      view.at("name").string();
      view.at("bytes").integer(0, kMostInteger);
      view.at("time").integer(INT64_MIN, kMostInteger);
    } else {
      view.at("gone").string();
    }
    run.lines.push_back(line);
  }
}

void LedgerFile::enter(const Run& run) {
  if (!run.begin["classes"].empty())
    classes = run.begin["classes"].get<std::vector<std::string>>();
  if (run.begin.contains("recipe")) recipe = run.begin["recipe"];
  for (const Json& line : run.lines) {
    if (line.contains("gone")) {
      entries[line["gone"].get<std::string>()].gone = true;
      continue;
    }
    LedgerEntry& entry = entries[line["name"].get<std::string>()];
    entry = {line["bytes"].get<std::int64_t>(),
             line["time"].get<std::int64_t>()};
    if (!line.contains("digest")) continue;
    entry.digest = line["digest"].get<std::string>();
    digests.insert(entry.digest);
  }
}

// A run that was killed counts if its output is in place, which it is only
// after all of its lines.
void LedgerFile::finish(const Run& run) {
  const std::string output = run.begin["output"];
  struct stat status {};
  if (io::is_regular(output, status) && run.begin["bytes"] == status.st_size) {
    std::int64_t bytes = 0;
    if (run.begin["digest"] == digest_of_file(output, bytes)) {
      if (run.begin["inputs"] != run.lines.size())
        throw Error{Code::kData, name_ + " is cut short: " + in_quotes(output) +
                                     " is in place, and not all of its inputs "
                                     "are entered; the ledger is damaged"};
      cut(size_);
      append(dump_json({{"in_place", output}}) + "\n");
      return enter(run);
    }
  }
  io::remove_abandoned(output);
  cut(run.start);
}

}  // namespace dl::vectorize
