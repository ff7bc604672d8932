// The end of a run for its members.  They answer Stop with Leave: a process
// that ended before could take the news down with its connections.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_SHUTDOWN_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_SHUTDOWN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class Shutdown {
 public:
  // Whether a worker of this name goes.
  using Goes = std::function<bool(const std::string& name)>;

  // Tells the members that go.  code, reason: as in Stop.
  Shutdown(RunContext& context, int code, const std::string& reason, Goes goes);
  static bool everybody(const std::string&) { return true; }

  bool all_left() const;
  // Whose connection ended and who is not back in time is lost.
  void tick(double now);
  // Bytes moved to or from one that has not left: the news may wait behind a
  // Round that takes long.
  bool flowed_since(double time) const;
  // A process of the master's host that has ended without a word.
  void lost_process(const std::string& name, std::int64_t pid,
                    const std::string& how);
  // The time is over: who has not answered is lost.
  void end();
  // Takes messages from now on, instead of Coordinator::handle().
  void take(const RouterSocket::Incoming& incoming);

 private:
  bool stays(const Member& member) const;
  void lose(const Member& member, const std::string& why);

  RunContext& context_;
  Goes goes_;
  Stop stop_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_SHUTDOWN_H_
