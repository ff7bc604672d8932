// The files of a folder and of all folders below it.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/source/ledger.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

// The names in a folder, in byte order.  A million of them take little more
// than their letters.
class Names {
 public:
  explicit Names(const std::string& path) {
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) bad_data(std::strerror(errno));
    errno = 0;
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] == '.') continue;  // hidden, or the folder itself
      starts_.push_back(text_.size());
      text_.append(entry->d_name).push_back('\0');
      text_.push_back(entry->d_type == DT_REG ? kFile : kOther);
    }
    const int error = errno;
    ::closedir(folder);
    if (error != 0) bad_data(std::strerror(error));
    std::ranges::sort(starts_, [this](std::size_t a, std::size_t b) {
      return std::strcmp(text_.data() + a, text_.data() + b) < 0;
    });
  }
  // The next one; null at the end.
  const char* next() {
    return at_ < starts_.size() ? text_.data() + starts_[at_++] : nullptr;
  }
  bool any_folder(const std::string& path) const {
    return std::ranges::any_of(starts_, [&](std::size_t start) {
      const char* name = text_.data() + start;
      struct stat status {};
      return !is_file(name) &&
             ::stat((path + "/" + name).c_str(), &status) == 0 &&
             S_ISDIR(status.st_mode);
    });
  }
  // Whether the folder says that a name it gave is a regular file's.
  static bool is_file(const char* name) {
    return name[std::strlen(name) + 1] == kFile;
  }

 private:
  static constexpr char kFile = 'f', kOther = 'o';
  std::string text_;  // of each: its letters, a NUL, what it is
  std::vector<std::size_t> starts_;
  std::size_t at_ = 0;
};

class FolderSource : public RecordSource {
 public:
  FolderSource(std::string root, Suffixes wanted, Ledger* ledger)
      : root_(std::move(root)), wanted_(wanted), ledger_(ledger) {
    while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
    struct stat status {};
    if (::stat(root_.c_str(), &status) != 0)
      throw Error{Code::kNoInput, "cannot open " + in_quotes(root_) + ": " +
                                      std::strerror(errno)};
    try {
      enter("", status);
    } catch (Error& e) {
      throw Error{Code::kNoInput,
                  "cannot read folder " + in_quotes(root_) + ": " + e.what()};
    }
  }

  bool next(Record& record) override {
    while (!open_.empty()) {
      const char* name = open_.back().names.next();
      if (name == nullptr)
        open_.pop_back();
      else if (take(open_.back().path + name, Names::is_file(name), record))
        return true;
    }
    return false;
  }

  PassedOver passed_over() const override { return passed_over_; }

 private:
  struct Folder {
    std::string path;  // below the root, with a slash behind it
    dev_t device;
    ino_t number;
    Names names;
  };

  void enter(const std::string& path, const struct stat& status) {
    open_.push_back(
        {path, status.st_dev, status.st_ino, Names(root_ + "/" + path)});
  }

  // Whether there are folders beside the files at the top.
  bool has_folders() {
    if (!has_folders_) has_folders_ = open_.front().names.any_folder(root_);
    return *has_folders_;
  }

  // False: there is no record of it.
  bool take(const std::string& path, bool is_file, Record& record) {
    const std::string whole = root_ + "/" + path;
    struct stat status {};
    if (!is_file && ::stat(whole.c_str(), &status) != 0)
      return fail(path, std::strerror(errno), record);
    if (!is_file && S_ISDIR(status.st_mode)) {
      for (const Folder& folder : open_)
        if (folder.device == status.st_dev && folder.number == status.st_ino)
          return fail(path,
                      "it is a link back to " +
                          in_quotes(root_ + "/" + folder.path) +
                          ", which it is in",
                      record);
      try {
        enter(path + "/", status);
      } catch (const Error& e) {
        return fail(path, e.what(), record);
      }
      return false;
    }
    if (!has_suffix(path, wanted_)) {
      ++passed_over_[suffix_of(path)];
      return false;
    }
    if (ledger_ != nullptr && !ledger_->take(whole)) return false;
    record = record_of_file(path);
    // Files at the top have the folder's own name, if it holds files alone.
    if (path.find('/') == std::string::npos && !has_folders())
      record.columns.set(*record.columns.place("folder"),
                         root_.substr(root_.rfind('/') + 1));
    record.name = in_quotes(whole);
    record.file = whole;
    return true;
  }

  bool fail(const std::string& path, const std::string& why, Record& record) {
    record = record_of_file(path);
    record.name = in_quotes(root_ + "/" + path);
    record.problem = why;
    return true;
  }

  std::string root_;
  Suffixes wanted_;
  Ledger* ledger_;
  std::vector<Folder> open_;  // from the root to where the walk is
  std::optional<bool> has_folders_;
  PassedOver passed_over_;
};

}  // namespace

std::unique_ptr<RecordSource> open_folder(const std::string& path,
                                          Suffixes wanted, Ledger* ledger) {
  return std::make_unique<FolderSource>(path, wanted, ledger);
}

}  // namespace dl::vectorize
