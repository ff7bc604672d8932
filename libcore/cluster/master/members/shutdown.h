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
  // Whether a worker of this name is to stop.
  using Goes = std::function<bool(const std::string& name)>;

  // Tells the members that are to stop.  code, reason: as in Stop.
  Shutdown(RunContext& context, int code, const std::string& reason, Goes goes);
  static bool everybody(const std::string&) { return true; }

  bool all_left() const;
  // Whose connection ended and who is not back in time is lost.
  void tick(double now);
  // Bytes moved to or from one that has not left: the news may wait behind a
  // Round that takes long.
  bool flowed_since(double time) const;
  // Notes that a process of the master's host has ended without Leave.
  void lost_process(const std::string& name, std::int64_t pid,
                    const std::string& how);
  // Ends the wait: members that have not answered are lost.
  void end();
  // Handles messages from now on, instead of Coordinator::handle().
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
