// Reading and writing of key files.

#include "libcore/cluster/transport/security/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/display.h"
#include "libcore/base/failpoint.h"
#include "libcore/io/own_file.h"
#include "libcore/io/temporary_name.h"

namespace dl::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kZ85 = 40;
// With what editors of other systems put around it.
constexpr std::size_t kLongestText = kZ85 + 5;
constexpr std::size_t kLongestName = 64;
constexpr std::string_view kOnce = ".once";

[[noreturn]] void unusable(const std::string& path, const std::string& why) {
  throw Error{Code::kNotAuthorised,
              "key file '" + displayed(path) + "': " + why};
}

// path: for messages.
std::string check_key(std::string text, const std::string& path) {
  if (const std::string wide = wide_encoding(text); !wide.empty())
    unusable(path, "is " + wide + " text; copy it as it is");
  text = without_byte_order_mark(text);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  std::array<std::uint8_t, 32> raw{};
  if (text.size() != kZ85 || !zmq_z85_decode(raw.data(), text.c_str()))
    unusable(path, "is no key: want 40 characters of Z85");
  return text;
}

std::string read_key(const std::string& path, bool secret) {
  // Without waiting: it may be a pipe.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    unusable(path,
             std::string(std::strerror(errno)) + "; dl-keygen makes key files");
  struct stat status {};
  std::array<char, kLongestText + 1> buffer{};
  bool shared = fstat(fd, &status) != 0;
  // Files of others may be readable by our group alone: so Kubernetes gives a
  // secret to a process that is not root.
  shared |= (status.st_mode & (status.st_uid == geteuid() ? 077 : 027)) != 0;
  const bool file = S_ISREG(status.st_mode);
  ssize_t size = file ? read(fd, buffer.data(), buffer.size()) : 0;
  close(fd);
  if (!file) unusable(path, "is no file");
  if (secret && shared)
    unusable(path, "others can read it; chmod 600 '" + displayed(path) + "'");
  return check_key(
      {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0}, path);
}

std::string public_of(const std::string& secret, const std::string& path) {
  std::array<char, kZ85 + 1> text{};
  if (zmq_curve_public(text.data(), secret.c_str()) != 0)
    unusable(path, "has no public key");
  return text.data();
}

bool name_ok(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' &&
         name[0] != '-' && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                  (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
         });
}

struct KeyFile {
  std::string path, key;
  bool secret = false;
};

// Whole or not at all, with its mode from the first byte on.
void write_key(const KeyFile& file) {
  auto fail = [&](const std::string& left_over) {
    std::string why = std::strerror(errno);
    if (!left_over.empty()) unlink(left_over.c_str());
    throw Error{Code::kCantCreate,
                "cannot create '" + displayed(file.path) + "': " + why};
  };
  io::remove_abandoned(file.path);
  const std::string temporary = io::temporary_name(file.path);
  int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                file.secret ? 0600 : 0644);
  if (fd < 0) fail("");
  std::string line = file.key + "\n";
  bool written = write(fd, line.data(), line.size()) ==
                     static_cast<ssize_t>(line.size()) &&
                 fsync(fd) == 0;
  if (close(fd) != 0 || !written) fail(temporary);
  failpoint("keygen.before_rename");
  if (rename(temporary.c_str(), file.path.c_str()) != 0) fail(temporary);
}

// "" if it is not there.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

void make_folder(const fs::path& path, bool secret) {
  io::require_own_folder(path.string(), "the folder of keys");
  std::error_code error;
  bool made = fs::create_directories(path, error);
  if (!error && made && secret)
    fs::permissions(path, fs::perms::owner_all, error);
  if (error)
    throw Error{
        Code::kCantCreate,
        "cannot create '" + displayed(path.string()) + "': " + error.message()};
}

}  // namespace

KeyPair make_key_pair() {
  std::array<char, kZ85 + 1> open{}, secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0)
    throw Error{Code::kUnavailable, "this libzmq is built without CURVE"};
  return {open.data(), secret.data()};
}

KeyPair key_pair_of(const std::string& secret) {
  return {public_of(secret, "a secret key"), secret};
}

KeyPair read_server_keys(const std::string& folder) {
  std::string path = folder + "/server.key";
  std::string secret = read_key(path, true);
  return {public_of(secret, path), secret};
}

WorkerKeys read_worker_keys(const std::string& folder) {
  std::string path = folder + "/worker.key";
  std::error_code ignored;
  if (!fs::exists(path, ignored) &&
      fs::is_directory(folder + "/hand-out", ignored))
    unusable(path, "'" + displayed(folder) +
                       "' is the master's folder of keys; a worker's is '" +
                       folder + "/hand-out/NAME', or a copy of it");
  std::string secret = read_key(path, true);
  return {read_key(folder + "/server.pub", false),
          {public_of(secret, path), secret}};
}

WorkerKeys read_worker_keys_from(int fd) {
  const std::string name = "-";
  std::array<std::string, 2> keys;
  for (std::string& key : keys) {
    char c = 0;
    while (key.size() <= kZ85 && c != '\n' && read(fd, &c, 1) == 1) key += c;
    if (key.empty())
      unusable(name,
               "ends before two keys; `dl-keygen DIR --once NAME` makes "
               "them");
    key = check_key(key, name);
  }
  return {keys[0], {public_of(keys[1], name), keys[1]}};
}

bool is_once(const std::string& name) { return name.ends_with(kOnce); }
std::string once_name(const std::string& name) {
  return name + std::string(kOnce);
}

void remove_once(const std::string& folder, const std::string& name) {
  std::error_code error;
  fs::remove(folder + "/workers/" + name, error);
  if (error)
    throw Error{Code::kIo, "cannot remove '" + folder + "/workers/" + name +
                               "': " + error.message()};
}

std::map<std::string, std::string> read_allowed_keys(
    const std::string& folder,
    const std::function<void(const Error&)>& damaged) {
  std::map<std::string, std::string> allowed;
  std::error_code error;
  fs::directory_iterator files(folder + "/workers", error);
  if (error) return allowed;
  for (const fs::directory_entry& file : files) {
    const bool once = file.path().extension() == kOnce;
    if (!once && file.path().extension() != ".pub") continue;
    try {
      allowed[read_key(file.path().string(), false)] =
          (once ? file.path().filename() : file.path().stem()).string();
    } catch (const Error& bad) {
      if (!damaged) throw;
      damaged(bad);
    }
  }
  return allowed;
}

std::string server_key_stamp(const std::string& folder) {
  return stamp_of(folder + "/server.key");
}

std::string allowed_keys_stamp(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator files(folder + "/workers", error);
  if (error == std::errc::no_such_file_or_directory) return "none";
  std::vector<std::string> stamps;
  for (const fs::directory_iterator end; !error && files != end;
       files.increment(error)) {
    const std::string stamp = stamp_of(files->path().string());
    if (!stamp.empty())
      stamps.push_back(files->path().filename().string() + " " + stamp);
  }
  if (error) return "";
  std::ranges::sort(stamps);
  std::string stamp = "keys";
  for (const std::string& each : stamps) stamp += "\n" + each;
  return stamp;
}

namespace {

void check_name(const std::string& name) {
  if (!name_ok(name) || is_once(name))
    throw Error{Code::kUsage, "worker name '" + displayed(name) +
                                  "': want up to 64 letters, digits, '.', "
                                  "'_' and '-', and no end '.once'"};
}

// The server's public key.  One that is made is added to `files`.
std::string server_key(const std::string& folder, bool make,
                       std::vector<KeyFile>& files) {
  const std::string path = folder + "/server.key";
  if (!make && fs::exists(path)) return read_server_keys(folder).public_key;
  KeyPair keys = make_key_pair();
  files.push_back({path, keys.secret_key, true});
  files.push_back({folder + "/server.pub", keys.public_key, false});
  return keys.public_key;
}

// The copies in hand-out, of other workers than those in `files`.
std::vector<KeyFile> copies(const std::string& folder,
                            const std::string& server,
                            const std::vector<KeyFile>& files) {
  std::vector<KeyFile> result;
  std::error_code error;
  fs::directory_iterator workers(folder + "/hand-out", error);
  if (error) return result;
  for (const fs::directory_entry& worker : workers) {
    const std::string path = worker.path().string() + "/server.pub";
    if (fs::exists(path, error) &&
        std::ranges::find(files, path, &KeyFile::path) == files.end())
      result.push_back({path, server, false});
  }
  std::ranges::sort(result, {}, &KeyFile::path);
  return result;
}

std::vector<std::string> write_keys(const std::string& folder,
                                    const std::vector<KeyFile>& files) {
  make_folder(folder, true);
  make_folder(folder + "/workers", false);
  std::vector<std::string> written;
  for (const KeyFile& file : files) {
    make_folder(fs::path(file.path).parent_path(), true);
    write_key(file);
    written.push_back(file.path);
  }
  return written;
}

void check_new(const std::vector<KeyFile>& files, bool force) {
  for (const KeyFile& file : files)
    if (!force && fs::exists(file.path))
      throw Error{Code::kCantCreate,
                  "'" + displayed(file.path) + "' exists; --force replaces it"};
}

}  // namespace

std::vector<std::string> make_keys(const std::string& folder,
                                   const std::vector<std::string>& workers,
                                   bool force) {
  for (const std::string& name : workers) check_name(name);
  std::vector<KeyFile> files;
  const std::string server = server_key(folder, workers.empty(), files);
  for (const std::string& name : workers) {
    KeyPair keys = make_key_pair();
    const std::string hand_out = folder + "/hand-out/" + name;
    files.push_back({hand_out + "/server.pub", server});
    files.push_back({hand_out + "/worker.key", keys.secret_key, true});
    // Last: a master that sees it ends the connections of the one before.
    files.push_back({folder + "/workers/" + name + ".pub", keys.public_key});
  }
  check_new(files, force);
  if (files[0].path == folder + "/server.key")
    for (KeyFile& copy : copies(folder, server, files))
      files.push_back(std::move(copy));
  return write_keys(folder, files);
}

WorkerKeys make_once(const std::string& folder, const std::string& name,
                     bool force) {
  check_name(name);
  std::vector<KeyFile> files;
  WorkerKeys keys{server_key(folder, false, files), make_key_pair()};
  files.push_back(
      {folder + "/workers/" + once_name(name), keys.own.public_key});
  check_new(files, force);
  write_keys(folder, files);
  return keys;
}

}  // namespace dl::cluster
