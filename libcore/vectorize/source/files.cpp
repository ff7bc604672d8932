// Operands one after the other: folders, files, archives.

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/decompress.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

// A file that an operand names.
class OneFile : public RecordSource {
 public:
  explicit OneFile(std::string path) : path_(std::move(path)) {}
  bool next(Record& record) override {
    if (given_) return false;
    given_ = true;
    record = record_of_file(path_);
    record.name = in_quotes(path_);
    record.file = path_;
    return true;
  }

 private:
  std::string path_;
  bool given_ = false;
};

// Gives the bytes that were read to look at them once more.
class PutBack : public io::Source {
 public:
  PutBack(std::unique_ptr<io::Source> source, std::vector<std::byte> start)
      : Source(source->name()),
        source_(std::move(source)),
        start_(std::move(start)) {}
  std::size_t read(std::span<std::byte> buf) override {
    if (at_ == start_.size()) return source_->read(buf);
    const std::size_t n = std::min(buf.size(), start_.size() - at_);
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(at_), n,
                buf.begin());
    at_ += n;
    return n;
  }
  void close() override { source_->close(); }

 private:
  std::unique_ptr<io::Source> source_;
  std::vector<std::byte> start_;
  std::size_t at_ = 0;
};

// The archive that an operand is; null: it is none.
std::unique_ptr<RecordSource> archive_of(const std::string& operand,
                                         Suffixes wanted) {
  auto source = io::decompress(io::open_source(operand));
  std::vector<std::byte> start(kTarBlock);
  start.resize(io::read_full(*source, start));
  if (!is_tar(start)) return nullptr;
  return open_tar(
      std::make_unique<PutBack>(std::move(source), std::move(start)), wanted);
}

std::unique_ptr<RecordSource> open_operand(const std::string& operand,
                                           Suffixes wanted) {
  struct stat status {};
  if (io::names_file(operand) && ::stat(operand.c_str(), &status) == 0 &&
      S_ISDIR(status.st_mode))
    return open_folder(operand, wanted);
  std::unique_ptr<RecordSource> archive;
  try {
    archive = archive_of(operand, wanted);
  } catch (const Error& e) {
    // A file that only begins as gzip or zstd does is some file.
    if (e.code() != Code::kData || !io::names_file(operand)) throw;
  }
  if (archive) return archive;
  if (!io::names_file(operand))
    bad_data(io::open_source(operand)->name() +
             " gives no tar archive; want one, or operands that are files");
  return std::make_unique<OneFile>(operand);
}

class FilesSource : public RecordSource {
 public:
  FilesSource(std::vector<std::string> operands, Suffixes wanted)
      : operands_(std::move(operands)), wanted_(wanted) {
    // A folder or file that is missing is told before anything is written.
    for (const std::string& operand : operands_) {
      struct stat status {};
      if (io::names_file(operand) && ::stat(operand.c_str(), &status) != 0)
        (void)io::open_source(operand);
    }
  }

  bool next(Record& record) override {
    for (;;) {
      if (current_ && current_->next(record)) return true;
      if (current_) passed_over_ += current_->passed_over();
      current_.reset();
      if (at_ == operands_.size()) return false;
      current_ = open_operand(operands_[at_++], wanted_);
    }
  }

  std::int64_t passed_over() const override {
    return passed_over_ + (current_ ? current_->passed_over() : 0);
  }

 private:
  std::vector<std::string> operands_;
  Suffixes wanted_;
  std::size_t at_ = 0;
  std::unique_ptr<RecordSource> current_;
  std::int64_t passed_over_ = 0;
};

}  // namespace

bool has_suffix(std::string_view name, Suffixes wanted) {
  name = name.substr(name.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (wanted.empty() || dot == std::string_view::npos) return true;
  std::string suffix(name.substr(dot));
  for (char& c : suffix)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(wanted, suffix) != wanted.end();
}

Record record_of_file(std::string_view path) {
  Record record;
  const std::size_t slash = path.rfind('/');
  std::string_view folder =
      slash == std::string_view::npos ? "" : path.substr(0, slash);
  folder = folder.substr(folder.rfind('/') + 1);
  record.columns.emplace("path", path);
  record.columns.emplace("folder", folder);
  record.columns.emplace("name", path.substr(slash + 1));
  if (!is_utf8(path)) record.problem = "its name is not UTF-8 text; rename it";
  return record;
}

std::unique_ptr<RecordSource> open_files(std::vector<std::string> operands,
                                         Suffixes wanted) {
  return std::make_unique<FilesSource>(std::move(operands), wanted);
}

}  // namespace dl::vectorize
