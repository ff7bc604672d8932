// Operands one after the other: folders, files, archives.

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/decompress.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/retrying.h"
#include "libcore/vectorize/image/decode.h"
#include "libcore/vectorize/source/ledger.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

// A file that an operand names.
class OneFile : public RecordSource {
 public:
  // problem: why it is none that is wanted, or "".
  explicit OneFile(std::string path, std::string problem = {})
      : path_(std::move(path)), problem_(std::move(problem)) {}
  bool next(Record& record) override {
    if (given_) return false;
    given_ = true;
    record = record_of_file(path_);
    record.name = in_quotes(path_);
    record.file = path_;
    if (record.problem.empty()) record.problem = problem_;
    return true;
  }

 private:
  std::string path_, problem_;
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

// The archive that an operand is; null: it is none, and `start` what it begins
// with.
std::unique_ptr<RecordSource> archive_of(const std::string& operand,
                                         const Inputs& inputs, Suffixes wanted,
                                         std::vector<std::byte>& start) {
  auto source =
      io::decompress(io::open_retrying(operand, inputs.retries, inputs.log));
  start.resize(kTarBlock);
  start.resize(io::read_full(*source, start));
  if (is_damaged_tar(start))
    bad_data(source->name() +
             ": the first header of the archive is damaged, its checksum is "
             "wrong");
  if (!is_tar(start)) return nullptr;
  return open_tar(
      std::make_unique<PutBack>(std::move(source), std::move(start)), wanted);
}

bool is_folder(const std::string& operand) {
  struct stat status {};
  return io::names_file(operand) && ::stat(operand.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode);
}

// Null: it was taken before.
std::unique_ptr<RecordSource> open_operand(const std::string& operand,
                                           const Inputs& inputs,
                                           Suffixes wanted) {
  if (is_folder(operand)) return open_folder(operand, wanted, inputs.ledger);
  if (inputs.ledger != nullptr && !inputs.ledger->take(operand)) return nullptr;
  // A list may have a million names: none is opened twice.
  if (!wanted.empty() && !suffix_of(operand).empty() &&
      has_suffix(operand, wanted) && io::names_file(operand))
    return std::make_unique<OneFile>(operand);
  std::unique_ptr<RecordSource> archive;
  std::vector<std::byte> start;
  std::string problem;
  try {
    archive = archive_of(operand, inputs, wanted, start);
    if (!archive && !wanted.empty()) problem = no_picture(start);
  } catch (const Error& e) {
    // A file that only begins as gzip or zstd does is some file, but no
    // picture.
    if (e.code() != Code::kData || !io::names_file(operand) ||
        !wanted.empty() || is_damaged_tar(start))
      throw;
  }
  if (archive) return archive;
  if (!io::names_file(operand))
    bad_data(io::open_source(operand)->name() +
             " gives no tar archive; want one, or operands that are files");
  return std::make_unique<OneFile>(operand, std::move(problem));
}

// The names of a list, one after the other.  They are data, and no commands.
class NameList {
 public:
  NameList(const std::string& list, char separator)
      : source_(list == "-" ? io::open_source(list) : io::open_file(list)),
        separator_(separator) {}

  // False at the end.
  bool next(std::string& name) {
    do {
      name.clear();
      int c = get();
      if (c < 0) return false;
      for (; c >= 0 && c != separator_; c = get()) {
        if (c == 0)
          bad_data(source_->name() +
                   " has a zero byte in a name; want -0 for names that end "
                   "with one");
        name.push_back(static_cast<char>(c));
        if (name.size() > kLongest) refuse_long();
      }
      if (separator_ == '\n' && name.ends_with('\r')) name.pop_back();
    } while (name.empty());
    if (!io::names_file(name)) name.insert(0, "./");
    return true;
  }

 private:
  static constexpr std::size_t kLongest = 4096;
  [[noreturn]] void refuse_long() const {
    bad_data(source_->name() + " has a name of more than " +
             std::to_string(kLongest) +
             " bytes; want names, one a line, or -0 for those that find "
             "-print0 and the like write");
  }
  int get() {
    if (at_ == size_) {
      size_ = source_->read(buffer_);
      at_ = 0;
    }
    return size_ == 0 ? -1 : std::to_integer<int>(buffer_[at_++]);
  }

  std::unique_ptr<io::Source> source_;
  char separator_;
  std::array<std::byte, 16384> buffer_{};
  std::size_t at_ = 0, size_ = 0;
};

void add_to(PassedOver& all, const PassedOver& more) {
  for (const auto& [suffix, count] : more) all[suffix] += count;
}

class FilesSource : public RecordSource {
 public:
  FilesSource(Inputs inputs, Suffixes wanted)
      : inputs_(std::move(inputs)), wanted_(wanted) {
    // A folder or file that is missing is told before anything is written.
    for (const std::string& operand : inputs_.operands) {
      struct stat status {};
      if (io::names_file(operand) && ::stat(operand.c_str(), &status) != 0)
        (void)io::open_source(operand);
      if (inputs_.ledger != nullptr && !io::names_file(operand))
        bad_usage((operand == "-" ? "standard input" : in_quotes(operand)) +
                  " with a ledger: want files and folders, which can be known "
                  "again");
    }
    if (!inputs_.list.empty()) names_.emplace(inputs_.list, inputs_.separator);
  }

  bool next(Record& record) override {
    for (;;) {
      if (current_ && current_->next(record)) return true;
      if (current_) add_to(passed_over_, current_->passed_over());
      current_.reset();
      std::string operand;
      if (at_ < inputs_.operands.size())
        current_ = open_operand(inputs_.operands[at_++], inputs_, wanted_);
      else if (!names_ || !names_->next(operand))
        return false;
      else if (open_listed(operand, record))
        return true;
    }
  }

  PassedOver passed_over() const override {
    PassedOver all = passed_over_;
    if (current_) add_to(all, current_->passed_over());
    return all;
  }

 private:
  // True: there is a record already.  One file of a list that is missing is one
  // bad record.
  bool open_listed(const std::string& operand, Record& record) {
    struct stat status {};
    if (::stat(operand.c_str(), &status) == 0) {
      for (const std::string& output : inputs_.outputs) {
        if (S_ISDIR(status.st_mode))
          refuse_picture_of(output, {operand});
        else
          io::refuse_overwriting(output, {operand});
      }
      current_ = open_operand(operand, inputs_, wanted_);
      return false;
    }
    record = record_of_file(operand);
    record.name = in_quotes(operand);
    record.problem = std::strerror(errno);
    return true;
  }

  Inputs inputs_;
  Suffixes wanted_;
  std::optional<NameList> names_;
  std::size_t at_ = 0;
  std::unique_ptr<RecordSource> current_;
  PassedOver passed_over_;
};

}  // namespace

std::string suffix_of(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return "";
  std::string suffix(name.substr(dot));
  for (char& c : suffix)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return suffix;
}

bool has_suffix(std::string_view name, Suffixes wanted) {
  const std::string suffix = suffix_of(name);
  return wanted.empty() || suffix.empty() ||
         std::ranges::find(wanted, suffix) != wanted.end();
}

std::string sentence_of(const PassedOver& files) {
  constexpr std::size_t kMost = 5;
  std::int64_t count = 0;
  std::vector<std::pair<std::int64_t, std::string>> kinds;
  for (const auto& [suffix, n] : files) {
    count += n;
    kinds.emplace_back(-n, suffix);
  }
  if (count == 0) return "";
  std::ranges::sort(kinds);  // the most frequent first
  std::string text = std::to_string(count) +
                     (count == 1 ? " file was" : " files were") +
                     " passed over, whose names end as no picture's: ";
  for (std::size_t i = 0; i < std::min(kinds.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(-kinds[i].first) + " " +
            clipped(kinds[i].second);
  return kinds.size() > kMost ? text + ", ..." : text;
}

Record record_of_file(std::string_view path) {
  static const auto kNames =
      std::make_shared<const ColumnNames>(columns_of_files());
  Record record;
  record.columns = RecordColumns(kNames);
  const std::size_t slash = path.rfind('/');
  std::string_view folder =
      slash == std::string_view::npos ? "" : path.substr(0, slash);
  folder = folder.substr(folder.rfind('/') + 1);
  (void)record.columns.emplace("path", std::string(path));
  (void)record.columns.emplace("folder", std::string(folder));
  (void)record.columns.emplace("name", std::string(path.substr(slash + 1)));
  if (!is_utf8(path)) record.problem = "its name is not UTF-8 text; rename it";
  return record;
}

std::vector<std::string> columns_of_files() {
  return {"path", "folder", "name", "bytes"};
}

void refuse_picture_of(const std::string& output,
                       const std::vector<std::string>& operands) {
  namespace fs = std::filesystem;
  if (!io::names_file(output) ||
      !has_suffix(output, find_vectorizer("image")->suffixes))
    return;
  std::error_code error;
  const fs::path file = fs::weakly_canonical(output, error);
  for (const std::string& operand : operands) {
    if (error || !io::names_file(operand) || !fs::is_directory(operand, error))
      continue;
    const fs::path below =
        file.lexically_relative(fs::weakly_canonical(operand, error));
    if (error || below.empty() || *below.begin() == "..") continue;
    throw Error{Code::kUsage,
                in_quotes(output) + " lies in the input " + in_quotes(operand) +
                    ", whose pictures would be replaced by it, or "
                    "be one more; write it elsewhere"};
  }
}

std::unique_ptr<RecordSource> open_files(Inputs inputs, Suffixes wanted) {
  return std::make_unique<FilesSource>(std::move(inputs), wanted);
}

}  // namespace dl::vectorize
