// The folder of a run, dl-run(5): what it was asked to do, its history, its
// checkpoints, and a lock that keeps a second master out.
//
// Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RUN_DIRECTORY_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RUN_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/cluster/run_dir/run_lock.h"
#include "libcore/nn/model/model.h"

namespace dl::cluster {

class RunDirectory {
 public:
  // Makes the folder if it is missing and locks it.  One that it made, and in
  // which no run.json was written, is removed with the object.
  // Throws Error: kUnavailable, another master has it ("'m.run' is in use by
  // process 812"); kCantCreate, also what refuse_other_folder() says;
  // kNotAuthorised, the folder or a file of the run is another user's.
  explicit RunDirectory(const std::string& path);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const;
  // Number of masters that have run here, this one included.
  std::uint64_t incarnation() const { return lock_->incarnation(); }

  // Removes what an earlier run left, but for the files whose absolute paths
  // are in `keep`.  Throws Error: kIo.
  void clear(const std::vector<std::string>& keep = {});

  // run.json as it is; null if there is none.
  // Throws Error: kData, it is damaged; kIo.
  Json configuration() const;
  // Writes run.json, or compares with the one that is there what must not
  // change (run_json.h).
  // Throws Error: kConfig, "'m.run' holds a run with settings.batch = 32, now
  // 64; ..."; kData.
  void settle(const Json& configuration) const;
  // Replaces run.json.  Throws Error: kCantCreate, kIo.
  void rewrite(const Json& configuration) const;

  struct Checkpoint {
    std::string name;
    nn::Model model;
  };
  // The newest that can be read; damaged ones, and those of other runs, are
  // warned of and passed over.
  // Throws Error: kData, there are some, all are damaged, and no update log
  // goes back to the start.
  std::optional<Checkpoint> newest(const Log& log) const;

  // Writes the next one, keeps it, the one before and `kept` (and the oldest,
  // if keep_first), and returns its name.
  // Throws Error: kCantCreate, kIo.
  std::string save(const nn::Model& model, bool keep_first = false,
                   const std::string& kept = "");

  // Removes the other checkpoints; what cannot be removed stays.
  void keep_only(const std::vector<std::string>& names) const;

 private:
  void sweep();

  bool made_ = false;  // whether this object made the folder

  std::string path_;
  std::optional<RunLock> lock_;  // lock; made after the folder
};

// Paths of the checkpoints in a run directory, oldest first.
// Throws Error: kNoInput, there is no such folder.
std::vector<std::string> checkpoint_files(const std::string& folder);

// Whether anything was trained in the folder: there is an update in a log, or a
// checkpoint with one.
bool has_learnt(const std::string& folder);

// Where two documents differ first: "settings.batch"; "" if they are equal.
// The two values, or "nothing", go to *left and *right.
std::string first_difference(const Json& a, const Json& b, std::string* left,
                             std::string* right);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RUN_DIRECTORY_H_
