// The options of dl-master about its workers and the way to them.

#ifndef DL_TOOLS_DL_MASTER_WORKERS_H_
#define DL_TOOLS_DL_MASTER_WORKERS_H_

#include "libcore/cli/options.h"
#include "libcore/cluster/plan/master_options.h"

inline void declare_workers(dl::cli::Options& opt,
                            dl::cluster::MasterOptions& m) {
  opt.section("Workers");
  opt.add("local", &m.local, "COUNT", "start so many workers on this host");
  opt.add("hosts", &m.hosts, "HOSTS",
          "start workers on other hosts through ssh: h1,h2*4,@FILE");
  opt.add("rsh", &m.rsh, "COMMAND",
          "command that reaches a host, in place of ssh");
  opt.add("remote", &m.remote, "COMMAND",
          "command that starts dl-worker there; its path here if not given");
  opt.add("restarts", &m.restarts, "COUNT",
          "starts of such a worker that dies again and does nothing between");
  opt.add("threads", &m.threads, "COUNT",
          "threads of such a worker; 0: as many as it gains from");
  opt.add("device", &m.device, "NAME", "device of such workers");
  opt.add("precision", &m.precision, "NAME",
          "precision of such workers, as dl-worker has it");
  opt.add("bind", &m.bind, "ENDPOINT", "where to listen, if not tcp://*:0");
  opt.add("interface", &m.network.interface, "NAME",
          "listen at the address of this interface, and tell that");
  opt.add("network", &m.network.network, "NETWORK",
          "listen at this host's address in this network, such as 10.0.0.0/16");
  opt.add("advertise", &m.advertise, "HOST[:PORT]",
          "address that workers are told instead of where it listens");
  opt.add("master-file", &m.master_file, "FILE",
          "write the endpoint there, for dl-worker --master-file");
  opt.add("keys", &m.security.keys, "DIR",
          "folder with server.key and workers/*.pub");
  opt.flag("insecure", &m.security.insecure,
           "listen on the network without encryption");
  opt.add("min-workers", &m.min_workers, "COUNT",
          "begin when there are so many; 0: those that it starts, or 1");
  opt.duration("wait", &m.wait, "TIME",
               "longest wait for workers, to begin and when all are gone");
  opt.duration("heartbeat", &m.heartbeat, "TIME",
               "between two signs of life of a worker");
  opt.duration("lost-after", &m.lost_after, "TIME",
               "silence after which a worker's work is given to others");
  opt.duration("stuck-after", &m.stuck_after, "TIME",
               "time without progress after which it is, too");
  opt.flag("speculate", &m.speculate,
           "give what a slow worker has to an idle one as well");
  opt.add("skip-bad-shards", &m.skip_bad_shards, "COUNT",
          "shards that may be left out as damaged or deadly");
}

// Refuses options that have no effect in this run.
inline void check_workers(const dl::cli::Options& opt,
                          const dl::cluster::MasterOptions& m) {
  if (m.security.insecure) opt.refuse({"keys"}, "does not go with --insecure");
  if (m.hosts.empty()) opt.refuse({"rsh", "remote"}, "is for --hosts");
  if (m.local == 0 && m.hosts.empty())
    opt.refuse({"threads", "device", "precision", "restarts"},
               "is for --local and --hosts; dl-worker has its own");
}

#endif  // DL_TOOLS_DL_MASTER_WORKERS_H_
