// Tests of libcore/plot/live/web_access.h.

#include "libcore/plot/live/web_access.h"

#include <catch2/catch.hpp>

#include "libcore/base/host_name.h"

namespace dl::plot::web_access_test {
namespace {

TEST_CASE("a server on loopback answers its own names alone") {
  const WebAccess access({"127.0.0.1", 8080}, "");
  CHECK(access.url() == "http://127.0.0.1:8080/");
  for (const char* host : {"localhost:8080", "127.0.0.1:8080", "[::1]:8080",
                           "localhost", "localhost:9000", "127.0.0.5:8080"}) {
    CAPTURE(host);
    CHECK(access.refusal({.host = host}).empty());
  }
  // A name that its owner lets point here.
  for (const char* host :
       {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example",
        "localhost.evil.example:8080", "192.0.2.1:8080", "[::2]:8080"}) {
    CAPTURE(host);
    CHECK_FALSE(access.refusal({.host = host}).empty());
  }
}

TEST_CASE("pages of other origins are refused") {
  const WebAccess access({"127.0.0.1", 8080}, "");
  const char* host = "localhost:8080";
  CHECK(access
            .refusal(
                {host, "http://localhost:8080", "same-origin", "cors", "empty"})
            .empty());
  for (const char* origin : {"http://evil.example", "null",
                             "http://localhost:9000", "https://localhost:8080"})
    CHECK_FALSE(access.refusal({.host = host, .origin = origin}).empty());
  for (const char* site : {"cross-site", "same-site"}) {
    CHECK_FALSE(access.refusal({host, "", site, "no-cors", "image"}).empty());
    CHECK_FALSE(access.refusal({host, "", site, "navigate", "iframe"}).empty());
    // A link to here that the user has followed.
    CHECK(access.refusal({host, "", site, "navigate", "document"}).empty());
  }
}

TEST_CASE("elsewhere the token is the key") {
  const WebAccess access({"0.0.0.0", 8080}, "abc123");
  CHECK(access.url() == "http://" + host_name() + ":8080/abc123/");
  CHECK(access.refusal({.host = "any.example:8080"}).empty());
  CHECK(access.below_root("/abc123/") == "");
  CHECK(access.below_root("/abc123/run?name=a") == "run?name=a");
  for (const char* target : {"/", "/abc123", "/abc12/", "/abc1234/", "/abc124/",
                             "/run?name=a", "abc123/", "", "//abc123/"}) {
    CAPTURE(target);
    CHECK_FALSE(access.below_root(target));
  }
  CHECK(WebAccess({"::1", 1}, "").url() == "http://[::1]:1/");
}

}  // namespace
}  // namespace dl::plot::web_access_test
