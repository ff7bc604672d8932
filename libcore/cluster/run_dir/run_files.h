// The files that a run keeps in its folder, dl-run(5), and what must not be
// done to them.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RUN_FILES_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RUN_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::cluster {

// The number in "checkpoint-000041.safetensors", or -1.
std::int64_t checkpoint_number(const std::string& name);
std::string checkpoint_name(std::int64_t number);

// Whether a file of this name in a run directory is of the run: what --fresh
// removes.  The lock is not among them.
bool is_of_run(const std::string& name);

// run.json of the folder, or null: there is none.  Its structure has been
// checked as far as nobody checks it later. Throws Error: kData, it is damaged;
// kIo.
Json read_configuration(const std::string& folder);

// Whether the folder has a run.json that dl-master wrote.
// Throws Error: kData, it is damaged; kIo.
bool holds_run(const std::string& folder);

// Throws Error: kCantCreate, the folder holds no run, but files of others under
// names that a run writes and --fresh removes; what holds_run() throws.
void refuse_other_folder(const std::string& folder);

// folder: a run directory, which need not be there.  Links and other spellings
// are found.
// Throws Error: kUsage, the output is a file that the run keeps there, or would
// keep there.
void refuse_overwriting_run(const std::string& output,
                            const std::string& folder);

// inputs: source specs; commands and standard input are passed over.
// Throws Error: kUsage, one of them is a file of the run in the folder.  what:
// would become of it, "--fresh would remove".
void refuse_removing(const std::vector<std::string>& inputs,
                     const std::string& folder, const std::string& what);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RUN_FILES_H_
