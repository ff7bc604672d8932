#include "libcore/cluster/run_dir/folded_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/cluster/run_dir/history_fold.h"

namespace dl::cluster {

FoldedFile::FoldedFile(const std::string& path, std::int64_t size)
    : path_(path), from_size_(size), sink_(group_.open(path)) {
  maker_ = std::thread([this] { make(); });
}

FoldedFile::~FoldedFile() {
  stop_ = true;
  if (maker_.joinable()) maker_.join();
}

void FoldedFile::add(std::string_view bytes) {
  sink_->write(std::as_bytes(std::span(bytes)));
  size_ += std::ssize(bytes);
}

void FoldedFile::make() {
  constexpr std::size_t kWrittenAtOnce = std::size_t{256} << 10;
  std::string folded;
  try {
    HistoryFold fold([&](std::string_view text) {
      folded += text;
      if (folded.size() < kWrittenAtOnce) return;
      add(folded);
      folded.clear();
    });
    std::ifstream in(path_, std::ios::binary);
    std::int64_t read = 0;
    for (std::string line;
         read < from_size_ && !stop_ && std::getline(in, line);
         read += std::ssize(line) + 1)
      fold.take(line);
    if (read != from_size_ && !stop_)
      throw Error{Code::kIo, "cannot read " + in_quotes(path_)};
    fold.finish();
    add(folded);
  } catch (const Error& error) {
    failed_ = error.code() == Code::kData
                  ? std::make_exception_ptr(Error{
                        Code::kData, in_quotes(path_) + ", " + error.what()})
                  : std::current_exception();
  } catch (...) {
    failed_ = std::current_exception();
  }
  ready_ = true;
}

std::int64_t FoldedFile::replace(int file) {
  maker_.join();
  if (failed_) std::rethrow_exception(failed_);
  std::string bytes(std::size_t{256} << 10, '\0');
  for (std::int64_t at = from_size_;;) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error{Code::kIo, "cannot read " + in_quotes(path_) + ": " +
                                 std::strerror(errno)};
    if (got == 0) break;
    add(std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
    at += got;
  }
  sink_->close();
  group_.publish();
  return size_;
}

}  // namespace dl::cluster
