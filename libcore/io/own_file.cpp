// Opening of files without following others' links.

#include "libcore/io/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/temporary.h"
#include "libcore/io/temporary_name.h"

namespace dl::io {
namespace {

constexpr int kMostLinks = 40;  // as the system follows
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

[[noreturn]] void cannot_open(const std::string& path, const char* why) {
  throw Error{Code::kCantCreate, "cannot open " + in_quotes(path) + ": " + why};
}

// The owner of what this process makes in the folder.
std::optional<uid_t> owner_of_new_files(const std::string& folder) {
  const Temporary probe(temporary_name(folder + "/owner"));
  const int file = ::open(probe.path().c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return std::nullopt;
  struct stat info {};
  const bool known = ::fstat(file, &info) == 0;
  ::close(file);
  return known ? std::optional(info.st_uid) : std::nullopt;
}

bool is_ours(uid_t owner, const std::string& folder) {
  return owner == ::geteuid() || owner == 0 ||
         owner == owner_of_new_files(folder);
}

[[noreturn]] void refuse_owner(const std::string& what, uid_t owner,
                               const char* remedy) {
  throw Error{Code::kNotAuthorised, what + " belongs to another user (uid " +
                                        std::to_string(owner) + "); " + remedy};
}

std::string without_end(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Another user may have put a second name of a file of ours there.
bool may_be_planted(const struct stat& file, const std::string& path) {
  struct stat folder {};
  return file.st_nlink > 1 && (::stat(folder_of(path).c_str(), &folder) != 0 ||
                               (folder.st_mode & kOthersWrite) != 0);
}

}  // namespace

int open_own(const std::string& path, int flags) {
  const int file =
      ::open(path.c_str(),
             flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (file < 0 && errno == ELOOP)
    cannot_open(path, "it is a symbolic link; remove it");
  if (file < 0) cannot_open(path, std::strerror(errno));
  try {
    struct stat info {};
    if (::fstat(file, &info) != 0) cannot_open(path, std::strerror(errno));
    if (S_ISFIFO(info.st_mode))
      throw Error{Code::kCantCreate, in_quotes(path) + " is a FIFO; remove it"};
    // A device such as /dev/null is there by the administrator.
    if (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode))
      cannot_open(path, "it is no file; remove it");
    if (may_be_planted(info, path))
      cannot_open(path,
                  "it is a hard link, in a folder that others may write to; "
                  "remove it");
    if (!is_ours(info.st_uid, folder_of(path)))
      refuse_owner(in_quotes(path), info.st_uid, "remove it");
  } catch (...) {
    ::close(file);
    throw;
  }
  return file;
}

std::string follow_own_links(const std::string& path) {
  std::string at = path;
  for (int links = 0; links < kMostLinks; ++links) {
    struct stat info {};
    if (::lstat(at.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return at;
    if (!is_ours(info.st_uid, folder_of(at)))
      refuse_owner("the symbolic link " + in_quotes(at), info.st_uid,
                   "write to another place, or remove it");
    std::error_code error;
    const std::filesystem::path to = std::filesystem::read_symlink(at, error);
    if (error) cannot_open(path, error.message().c_str());
    at = to.is_absolute() ? to.string() : folder_of(at) + "/" + to.string();
  }
  cannot_open(path, std::strerror(ELOOP));
}

void require_own_folder(const std::string& path, const std::string& what) {
  const std::string folder = follow_own_links(without_end(path));
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0 && !is_ours(info.st_uid, folder))
    refuse_owner(what + " " + in_quotes(path), info.st_uid,
                 "take another, or chown it to this one");
}

}  // namespace dl::io
