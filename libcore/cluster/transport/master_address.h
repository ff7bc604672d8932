// Where the master is: told outright, or read from the file that it writes
// once its port is known (--master-file).

#ifndef DL_LIBCORE_CLUSTER_TRANSPORT_MASTER_ADDRESS_H_
#define DL_LIBCORE_CLUSTER_TRANSPORT_MASTER_ADDRESS_H_

#include <string>

namespace dl::cluster {

struct MasterAddress {
  std::string endpoint;  // "tcp://boss:7000"; or
  std::string file;      // {"endpoint": "tcp://...", "run": ..., ...}

  struct Seen {
    std::string endpoint;  // ""; or
    std::string why;       // reason: the file is missing or not complete
    std::string over;      // run that the file calls finished
  };
  Seen look() const;  // looks at the file now
  // Name for messages: "tcp://boss:7000" or "'run/master.json'".
  std::string name() const;
};

// Throws Error: kUsage unless text is tcp://HOST:PORT or ipc://PATH.
void check_endpoint(const std::string& text);

// Throws Error: kUsage unless text is such an endpoint to listen at, where the
// port may also be 0 or *, a free one.  (libzmq takes the digits that there
// are, and the low 16 bits of their number.)
void check_bind(const std::string& text);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TRANSPORT_MASTER_ADDRESS_H_
