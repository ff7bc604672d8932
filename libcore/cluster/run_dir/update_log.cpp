// Writing of the update log.

#include "libcore/cluster/run_dir/update_log.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <list>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/hex.h"
#include "libcore/io/own_file.h"
#include "libcore/io/sink.h"

namespace dl::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunBytes = 16;

std::string error_text() { return std::strerror(errno); }

iovec part_of(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// One call, unless it is more than the system takes at once (2 GiB).
bool write_all(int file, std::span<iovec> parts) {
  while (!parts.empty()) {
    const ssize_t written =
        ::writev(file, parts.data(), static_cast<int>(parts.size()));
    if (written < 0) return false;
    auto left = static_cast<std::size_t>(written);
    while (!parts.empty() && left >= parts.front().iov_len) {
      left -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (parts.empty()) break;
    iovec& first = parts.front();
    first.iov_base = static_cast<std::byte*>(first.iov_base) + left;
    first.iov_len -= left;
  }
  return true;
}

}  // namespace

std::vector<LogFile> update_logs(const std::string& folder) {
  std::vector<LogFile> result;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto base =
            kUpdateLogName.parse(entry.path().filename().string()))
      result.push_back(
          {entry.path().string(), static_cast<std::uint64_t>(*base)});
  std::ranges::sort(result, {}, &LogFile::base);
  return result;
}

bool is_cut_short(const LogFile& file) {
  std::error_code error;
  return fs::file_size(file.path, error) < kLogHeaderBytes && !error;
}

LogInMemory::LogInMemory(const LogFile& file)
    : mapping_(io::map_file(file.path)) {
  if (!mapping_)
    throw Error{Code::kIo, "cannot read '" + displayed(file.path) + "'"};
  reader_.emplace(mapping_->bytes(), "'" + displayed(file.path) + "'");
  if (reader_->header().base != file.base)
    throw Error{Code::kData, "'" + displayed(file.path) +
                                 "' begins after update " +
                                 std::to_string(reader_->header().base) +
                                 ", not as its name says"};
}

UpdateLog::UpdateLog(std::string folder, LogIdentity identity, std::string run,
                     Log log)
    : folder_(std::move(folder)),
      identity_(identity),
      run_(std::move(run)),
      log_(std::move(log)) {
  auto bytes = io::parse_hex_bytes(run_);
  require(bytes && bytes->size() == kRunBytes, "run id of 32 digits");
  run_bytes_ = std::move(*bytes);
}

UpdateLog::~UpdateLog() { close(); }

void UpdateLog::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void UpdateLog::open(const std::string& path) {
  close();
  path_ = path;
  before_last_.reset();
  file_ = io::open_own(path, O_WRONLY | O_APPEND);
  size_ = ::lseek(file_, 0, SEEK_END);
  if (size_ < 0)
    throw Error{Code::kIo,
                "cannot open '" + displayed(path) + "': " + error_text()};
}

LogEntry UpdateLog::start_entry(std::uint64_t version) const {
  LogEntry entry;
  entry.kind = EntryKind::kStart;
  entry.sequence = version;
  entry.payload = run_bytes_;
  return entry;
}

void UpdateLog::go_on(std::uint64_t version) {
  auto files = update_logs(folder_);
  while (!files.empty() && files.back().base > version) {
    fs::remove(files.back().path);
    files.pop_back();
  }
  if (files.empty() || is_cut_short(files.back())) return begin(version);
  std::optional<LogInMemory> last;
  try {
    last.emplace(files.back());
    while (last->reader().next()) {
    }
  } catch (const Error& error) {
    // replay() did not need what is damaged, or said what is missing.
    if (error.code() != Code::kData) throw;
  }
  if (!last || last->reader().sequence() != version) return begin(version);
  const UpdateLogReader& reader = last->reader();
  base_ = files.back().base;
  open(files.back().path);
  size_ = static_cast<std::int64_t>(reader.offset());
  if (::ftruncate(file_, size_) != 0)
    throw Error{Code::kIo,
                "cannot cut '" + displayed(path_) + "': " + error_text()};
  append(start_entry(version));
}

void UpdateLog::begin(std::uint64_t version) {
  if (file_ >= 0 && base_ == version) return;
  close();
  const std::string path =
      folder_ + "/" + kUpdateLogName.of(static_cast<std::int64_t>(version));
  std::vector<std::byte> bytes = encode_log_header({identity_, version});
  encode_entry(start_entry(version), bytes);
  const auto sink = io::open_sink(path);
  sink->write(bytes);
  sink->close();
  base_ = version;
  open(path);
}

void UpdateLog::prune(std::uint64_t version) {
  const auto files = update_logs(folder_);
  std::error_code ignored;
  for (std::size_t i = 0; i + 1 < files.size(); ++i)
    if (files[i + 1].base <= version) fs::remove(files[i].path, ignored);
}

void UpdateLog::append(const LogEntry& entry) {
  if (file_ < 0) return;
  const auto head = encode_head(entry);
  const auto tail = encode_tail(entry);
  std::array parts = {part_of(head), part_of(entry.payload),
                      part_of(entry.rest), part_of(tail)};
  if (write_all(file_, parts)) {
    before_last_ = size_;
    size_ += static_cast<std::int64_t>(head.size() + entry.payload.size() +
                                       entry.rest.size() + tail.size());
    return;
  }
  const std::string why = error_text();
  // A part of an entry would make later ones unreadable.
  if (::ftruncate(file_, size_) != 0) log_(Level::kDetail, error_text());
  close();
  log_(Level::kWarning, "cannot write '" + displayed(path_) + "': " + why +
                            "; updates until the next checkpoint are not "
                            "logged, training continues");
}

void UpdateLog::take_back_last() {
  if (file_ < 0) return;
  if (before_last_ && ::ftruncate(file_, *before_last_) != 0)
    log_(Level::kDetail, error_text());
  close();
}

void UpdateLog::end_epoch(const RunState& state) {
  const std::vector<std::byte> record = encode_epoch_record(state);
  LogEntry entry;
  entry.kind = EntryKind::kEpochEnd;
  entry.sequence = state.version;
  entry.epoch = state.epoch - 1;
  entry.payload = record;
  append(entry);
}

struct UpdateLog::History {
  std::list<LogInMemory> logs;  // the entries point into them
  std::vector<LogEntry> updates;
};

bool UpdateLog::find_after(const std::string& run, std::uint64_t version,
                           std::uint64_t latest, std::size_t most,
                           History& history) const {
  auto files = update_logs(folder_);
  // The log before the one that begins after `version` tells who wrote that.
  while (files.size() > 1 && files[1].base < version)
    files.erase(files.begin());
  if (file_ < 0 || files.empty() || files.front().base > version) return false;
  std::uint64_t reached = files.front().base;
  std::size_t bytes = 0;
  bool known = false;  // `version` is of the run's history
  std::string writer;
  for (const LogFile& file : files) {
    if (file.base > reached) return false;
    UpdateLogReader& reader = history.logs.emplace_back(file).reader();
    while (const auto entry = reader.next()) {
      if (entry->kind == EntryKind::kStart) writer = run_of(*entry);
      reached = entry->sequence;
      known = known || (writer == run && reached >= version);
      if (entry->kind == EntryKind::kRound) return false;
      if (entry->kind == EntryKind::kSetback && reached > version) return false;
      if (entry->kind != EntryKind::kUpdate || reached <= version) continue;
      bytes += entry->payload.size();
      if (bytes > most) return false;
      history.updates.push_back(*entry);
    }
  }
  return known && reached == latest;
}

bool UpdateLog::visit_after(
    const std::string& run, std::uint64_t version, std::uint64_t latest,
    std::size_t most, const std::function<void(const LogEntry&)>& visit) const {
  History history;
  try {
    if (!find_after(run, version, latest, most, history)) return false;
  } catch (const Error& error) {
    if (error.code() != Code::kData) throw;
    return false;
  }
  for (const LogEntry& entry : history.updates) visit(entry);
  return true;
}

std::vector<std::byte> encode_epoch_record(const RunState& state) {
  const std::string text = dump_json(state.to_json());
  const auto size = static_cast<std::uint32_t>(text.size());
  const std::span<const std::byte> statistics =
      std::as_bytes(std::span(state.statistics));
  std::vector<std::byte> record(sizeof size + size + statistics.size());
  std::memcpy(record.data(), &size, sizeof size);
  std::memcpy(record.data() + sizeof size, text.data(), size);
  std::ranges::copy(statistics, record.data() + sizeof size + size);
  return record;
}

void restore_epoch_record(std::span<const std::byte> payload, RunState& state) {
  std::uint32_t size = 0;
  if (payload.size() < sizeof size)
    throw Error{Code::kData, "record of an epoch's end: cut short"};
  std::memcpy(&size, payload.data(), sizeof size);
  payload = payload.subspan(sizeof size);
  const std::size_t want = state.statistics.size() * sizeof(float);
  if (size > payload.size() || payload.size() - size != want)
    throw Error{Code::kData, "record of an epoch's end: impossible sizes"};
  const std::string text(reinterpret_cast<const char*>(payload.data()), size);
  const Json json = parse_json(text, "record of an epoch's end", Code::kData);
  state.restore(JsonView(json, Code::kData, "record of an epoch's end"));
  std::memcpy(state.statistics.data(), payload.data() + size, want);
}

std::string run_of(const LogEntry& start) {
  if (start.payload.size() != kRunBytes)
    throw Error{Code::kData, "a start of a master without its run id"};
  return io::hex(start.payload);
}

}  // namespace dl::cluster
