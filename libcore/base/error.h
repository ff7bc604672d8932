// The one exception type of the toolkit.
//
// Throw it with a code and a message complete enough to print.  On the way up
// each layer adds what it knows with add_context(), outermost first:
//
//   'train-003.dls', record 17: checksum differs
//
// run_tool() prints the message after the tool's name and exits with the code.
// Third-party exceptions become an Error in the file that wraps the library.

#ifndef DL_LIBCORE_BASE_ERROR_H_
#define DL_LIBCORE_BASE_ERROR_H_

#include <exception>
#include <string>
#include <utility>

namespace dl {

// The exit status of the process; dl(7) says what each asks of the caller.
enum class Code {
  kNo = 1,              // the answer to the question asked is no
  kUsage = 64,          // the command line is wrong
  kData = 65,           // input is damaged or cut short
  kNoInput = 66,        // input is missing
  kUnavailable = 69,    // a device or peer that must be there is not
  kBug = 70,            // ours
  kCantCreate = 73,     // output cannot be created
  kIo = 74,             // reading or writing failed
  kTryAgain = 75,       // state is saved; run the same command again
  kProtocol = 76,       // the peer speaks another version, or nonsense
  kNotAuthorised = 77,  // the peer does not let us in
  kConfig = 78,         // a configuration is wrong
  kDiverged = 79,       // training went wrong
};

class Error : public std::exception {
 public:
  Error(Code code, std::string message)
      : code_(code), message_(std::move(message)) {}

  Code code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

  // Puts "where: " in front of the message.  Use: catch (Error& e) {
  // e.add_context("'train-003.dls', record 17"); throw; }
  void add_context(const std::string& where) {
    message_.insert(0, where + ": ");
  }

 private:
  Code code_;
  std::string message_;
};

// For who refuses often.
[[noreturn]] inline void bad_data(const std::string& what) {
  throw Error{Code::kData, what};
}
[[noreturn]] inline void bad_config(const std::string& what) {
  throw Error{Code::kConfig, what};
}
[[noreturn]] inline void bad_usage(const std::string& what) {
  throw Error{Code::kUsage, what};
}

// Throws kBug unless condition holds: for invariants of our own, never for
// input.
inline void require(bool condition, const char* what) {
  if (!condition)
    throw Error{Code::kBug, std::string("internal error: ") + what};
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_ERROR_H_
