// Tests of libcore/io/own_file.h.

#include "libcore/io/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "libcore/io/sink.h"
#include "tests/unit/error_of.h"
#include "tests/unit/scratch.h"

namespace dl::io::own_file_test {

std::string opening(const std::string& path) {
  return error_of([&] { ::close(open_own(path, O_RDWR | O_CREAT)); });
}

TEST_CASE("a file in place is opened, but no link and no FIFO") {
  const Scratch scratch;
  scratch.write("target", "precious");
  std::filesystem::create_symlink("target", scratch / "link");
  std::filesystem::create_symlink("none", scratch / "dangling");
  REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0600) == 0);
  CHECK(opening(scratch / "new").empty());
  CHECK(opening(scratch / "target").empty());
  CHECK(opening(scratch / "link").starts_with("73: cannot open"));
  CHECK(opening(scratch / "dangling").ends_with("link; remove it"));
  CHECK(opening(scratch / "fifo").ends_with("is a FIFO; remove it"));
  CHECK(opening(scratch.path()).starts_with("73: "));
  CHECK(scratch.read("target") == "precious");
}

TEST_CASE("a second name of a file counts where others may have made it") {
  const Scratch scratch;
  scratch.write("target", "precious");
  std::filesystem::create_hard_link(scratch / "target", scratch / "name");
  CHECK(opening(scratch / "name").empty());
  REQUIRE(::chmod(scratch.path().c_str(), 01777) == 0);
  CHECK(opening(scratch / "name").starts_with("73: cannot open"));
}

TEST_CASE("links of one's own lead on, also to what is not there yet") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "deep");
  std::filesystem::create_symlink("deep/b", scratch / "a");
  std::filesystem::create_symlink("c", scratch / "deep/b");
  std::filesystem::create_symlink("loop", scratch / "loop");
  CHECK(follow_own_links(scratch / "a") == scratch / "deep/c");
  CHECK(follow_own_links(scratch / "other") == scratch / "other");
  CHECK(error_of([&] {
          follow_own_links(scratch / "loop");
        }).starts_with("73: cannot open"));
}

TEST_CASE("another user's files, links and folders are refused") {
  if (::geteuid() != 0) {
    WARN("needs root, to make files of another user");
    return;
  }
  constexpr uid_t kNobody = 65534;
  const Scratch scratch;
  scratch.write("file", "");
  std::filesystem::create_directory(scratch / "folder");
  std::filesystem::create_symlink("folder", scratch / "link");
  std::filesystem::create_symlink("link", scratch / "own");
  for (const char* name : {"file", "folder", "link"})
    REQUIRE(::lchown((scratch / name).c_str(), kNobody, kNobody) == 0);
  CHECK(opening(scratch / "file").starts_with("77: "));
  CHECK(error_of([&] {
          follow_own_links(scratch / "own");
        }).starts_with("77: the symbolic link"));
  for (const char* name : {"folder", "folder/", "link", "own", "link/"})
    CHECK(error_of([&] {
            require_own_folder(scratch / name, "it");
          }).starts_with("77: "));
  REQUIRE(::lchown((scratch / "link").c_str(), 0, 0) == 0);
  REQUIRE(::lchown((scratch / "folder").c_str(), 0, 0) == 0);
  CHECK_NOTHROW(require_own_folder(scratch / "own", "it"));
  CHECK(scratch.files() == 4);
}

TEST_CASE("permissions of a file are kept, but no setuid bit") {
  const Scratch scratch;
  scratch.write("a", "");
  REQUIRE(::chmod((scratch / "a").c_str(), 06750) == 0);
  open_sink(scratch / "a")->close();
  struct stat info {};
  REQUIRE(::stat((scratch / "a").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0750);
}

}  // namespace dl::io::own_file_test
