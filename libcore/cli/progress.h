// One line on a terminal, redrawn at most six times a second, from one second
// after the start; nothing where stderr is no terminal.  With --progress-json a
// line of JSON twice a second: {"progress":{"text":"epoch 2/5 ..."}}.

#ifndef DL_LIBCORE_CLI_PROGRESS_H_
#define DL_LIBCORE_CLI_PROGRESS_H_

#include <functional>
#include <memory>
#include <string>

namespace dl::cli {

// Thread-safe.  The destructor clears the line.
class Progress {
 public:
  Progress();
  ~Progress();
  // Shows line() if it is time to.  As JSON it may be an object, which stands
  // for the one with the text.
  void update(const std::function<std::string()>& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether --progress-json was given.
bool progress_as_json();

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_PROGRESS_H_
