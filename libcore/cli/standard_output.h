// std::cout of a tool: a write that fails is an error at once, with its reason.
// The stream of the library keeps only that something failed, so the reason is
// lost by the time that anybody looks.

#ifndef DL_LIBCORE_CLI_STANDARD_OUTPUT_H_
#define DL_LIBCORE_CLI_STANDARD_OUTPUT_H_

#include <streambuf>
#include <vector>

namespace dl::cli {

// Stands behind std::cout as long as it lives; what is written to std::cout may
// throw Error: kIo.  Not thread-safe, as std::cout is not.
class StandardOutput : private std::streambuf {
 public:
  StandardOutput();
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes what is buffered.  Throws Error: kIo, once: what could not be
  // written is dropped.
  void flush();

 private:
  int_type overflow(int_type c) override;
  int sync() override;

  std::vector<char> buffer_;
  std::streambuf* before_;
};

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_STANDARD_OUTPUT_H_
