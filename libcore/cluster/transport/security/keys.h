// CURVE keys in files, dl-protocol(7): 40 characters of Z85 and a newline.

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_KEYS_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_KEYS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace dl::cluster {

struct KeyPair {
  std::string public_key, secret_key;  // text in Z85
};

// A new pair.  Throws Error: kUnavailable, libzmq is built without CURVE.
KeyPair make_key_pair();

// Keys that a worker needs to reach a master.
struct WorkerKeys {
  std::string server;  // the master's public key
  KeyPair own;
};

// Reads the output of `dl-keygen --once`: the master's public key and a secret
// key, a line each. Reads no more than that. Throws Error: kNotAuthorised.
WorkerKeys read_worker_keys_from(int fd);

// The pair of a secret key.  Throws Error: kNotAuthorised, it is none.
KeyPair key_pair_of(const std::string& secret);

// FOLDER/server.key and the public key that follows from it.
// Throws Error: kNotAuthorised, the file is missing, damaged, or can be read
// by group or others.
KeyPair read_server_keys(const std::string& folder);
// FOLDER/server.pub and FOLDER/worker.key.  Throws like read_server_keys().
WorkerKeys read_worker_keys(const std::string& folder);

// The public keys of FOLDER/workers/NAME.pub and NAME.once, and the names: for
// the latter, is_once(), with the ending.
// Throws Error: kNotAuthorised, a file is damaged; with `damaged`, that is told
// of it and the file left out.
std::map<std::string, std::string> read_allowed_keys(
    const std::string& folder,
    const std::function<void(const Error&)>& damaged = nullptr);
bool is_once(const std::string& name);
std::string once_name(const std::string& name);  // name with the ending
// Removes a key of that name, for one process, which is gone.
void remove_once(const std::string& folder, const std::string& name);
// Text that changes with the files of the folder; "": it cannot be read now.
std::string allowed_keys_stamp(const std::string& folder);
// allowed_keys_stamp() for FOLDER/server.key.
std::string server_key_stamp(const std::string& folder);

// The work of dl-keygen: makes the master's keys (if `workers` is empty, or
// there are none yet) and those of each worker, and returns the files written.
// Copies of the server's key for workers follow it. Without `force` a file that
// exists is an error, and nothing is written. Throws Error: kUsage, a name that
// cannot be part of a file name; kCantCreate; kNotAuthorised, server.key is
// there but damaged.
std::vector<std::string> make_keys(const std::string& folder,
                                   const std::vector<std::string>& workers,
                                   bool force);
// Likewise for one process that will be called so: its secret key is in no
// file.
WorkerKeys make_once(const std::string& folder, const std::string& name,
                     bool force);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_SECURITY_KEYS_H_
