// The stream buffer behind std::cout of a tool.

#include "libcore/cli/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

#include "libcore/base/error.h"

namespace dl::cli {

namespace {
constexpr std::size_t kBuffer = std::size_t{1} << 16;
}

StandardOutput::StandardOutput() : buffer_(kBuffer) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  before_ = std::cout.rdbuf(this);
  std::cout.exceptions(std::ios::badbit);  // lets ours through
}

StandardOutput::~StandardOutput() {
  std::cout.exceptions(std::ios::goodbit);
  std::cout.rdbuf(before_);
}

void StandardOutput::flush() {
  const char* at = pbase();
  const char* const end = pptr();
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  while (at < end) {
    const ssize_t n =
        ::write(STDOUT_FILENO, at, static_cast<std::size_t>(end - at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error{Code::kIo, std::string("cannot write standard output: ") +
                                 std::strerror(errno)};
    at += n;
  }
}

StandardOutput::int_type StandardOutput::overflow(int_type c) {
  flush();
  if (traits_type::eq_int_type(c, traits_type::eof()))
    return traits_type::not_eof(c);
  return sputc(traits_type::to_char_type(c));
}

int StandardOutput::sync() {
  flush();
  return 0;
}

}  // namespace dl::cli
