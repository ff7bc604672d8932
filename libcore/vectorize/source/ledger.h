// The ledger of inputs that were taken: who runs again takes only those that
// are new, and none is lost or taken twice, whenever a run is killed.
//
// It is a file of JSON Lines, described in dl-preprocess(1) under LEDGER:
//
//   {"ledger":1,"by":"name"}
//   {"begun":"/d/a.dls"}
//   {"output":"/d/a.dls","bytes":912,"digest":"...","inputs":1,...}
//   {"name":"/d/cat/1.jpg","bytes":52013,"time":1764370000123456789}
//   {"in_place":"/d/a.dls"}
//
// The first line of a run is written before its output is opened, those of its
// inputs when that is complete and before it has its name, the last one behind
// that.  A run without its last line is one that
// was killed: it counts if its output is in place, and is taken off otherwise.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/io/sink.h"

namespace dl::vectorize {

enum class LedgerBy {
  kName,   // an input is known by its name, size and time
  kDigest  // and, under another name, by its contents
};

class Ledger {
 public:
  // Locks the file, which need not be there; `output` is where the new inputs
  // go.  What a killed run left is put right.
  // Throws Error: kCantCreate, it cannot be opened, or another process has it;
  // kData, it is damaged; kConfig, it is kept by the other one.
  Ledger(const std::string& path, LedgerBy by, std::string output);
  // Takes back begin() where no output was made; removes a file that has no
  // lines.
  ~Ledger();

  // Whether an input is to be taken, as it is new or has changed; then it is
  // among those that are entered.  Called by one thread at a time.
  // Throws Error: kCantCreate, there is something new and the output is there
  // already; kNoInput.
  bool take(const std::string& file);

  // The classes of the outputs so far; none before the first.
  const std::vector<std::string>& classes() const;
  // Throws Error: kConfig, the outputs so far were made by another recipe.
  void check_recipe(const Json& recipe) const;

  // Says that the output is going to be written, so that what a run that is
  // killed leaves of it is found and removed by the next one.
  // Throws Error: kIo.
  void begin();

  // The sink of the output: its close() enters the inputs.  metadata: is asked
  // then.
  std::unique_ptr<io::Sink> entering(std::unique_ptr<io::Sink> sink,
                                     std::function<data::Metadata()> metadata);

  // Enters the inputs, none of which gave an example: no stream is written.
  // Throws Error: kIo.
  void enter_without_output(data::Metadata metadata);

  std::int64_t taken() const;  // in this run, those that have changed included
  // Sentences about inputs that have changed, or are gone, for the user.
  // Called when all inputs were given to take().
  std::vector<std::string> remarks();

 private:
  struct State;
  class EnteringSink;
  std::unique_ptr<State> state_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_H_
