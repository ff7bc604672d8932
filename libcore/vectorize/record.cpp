#include "libcore/vectorize/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

// A file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) bad_data(std::strerror(errno));
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  struct stat status() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) bad_data(std::strerror(errno));
    return status;
  }
  // As many bytes as there are, up to `size`; `expected` of them are known to
  // be there.
  std::size_t read(char* to, std::size_t size, std::size_t expected) const {
    std::size_t done = 0;
    while (done < size && (done == 0 || done != expected)) {
      const ssize_t n = ::read(fd_, to + done, size - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) bad_data(std::strerror(errno));
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  int fd_;
};

}  // namespace

std::string Record::place() const {
  return input ? *input + ", " + unit + " " + std::to_string(line) : name;
}

std::string_view Record::other(std::string_view column,
                               std::size_t& hint) const {
  for (std::size_t at = 0; at <= column.size();) {
    const std::size_t end = std::min(column.find(';', at), column.size());
    const auto found = columns.find(column.substr(at, end - at), hint);
    if (found) return *found;
    at = end + 1;
  }
  if (is_sparse) return {};
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    names.push_back(in_quotes(columns.name(i)));
  std::ranges::sort(names);
  std::string known;
  for (const std::string& own : names)
    known += (known.empty() ? "" : ", ") + own;
  bad_data("there is no column " + in_quotes(column) + "; it has " + known);
}

std::string_view ColumnOfRecords::found(const Record& record) const {
  std::size_t place = 0;
  const std::string_view text = record.at(name_, place);
  if (place < record.columns.size() && place <= kMostPlace &&
      record.columns.name(place) == name_)
    known_.store(record.columns.names()->number() << kPlaceBits | place,
                 std::memory_order_relaxed);
  return text;
}

void load(Record& record) {
  if (record.file.empty()) return;
  const OpenFile file(record.file);
  const struct stat before = file.status();
  if (!S_ISREG(before.st_mode)) bad_data("it is no regular file");
  const auto size = static_cast<std::size_t>(before.st_size);
  if (size > kMaxRecordFile)
    bad_data("it has " + std::to_string(size) + " bytes, want " +
             std::to_string(kMaxRecordFile) + " at most");
  std::string bytes;
  bytes.resize(size + 1);  // one more shows that it has grown
  const std::size_t n = file.read(bytes.data(), bytes.size(), size);
  const struct stat after = file.status();
  if (n != size || after.st_size != before.st_size ||
      after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
      after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
    bad_data("it changed while it was read");
  bytes.resize(n);
  (void)record.columns.emplace("bytes", std::move(bytes));
  record.file.clear();
}

}  // namespace dl::vectorize
