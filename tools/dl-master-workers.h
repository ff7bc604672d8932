// The options of dl-master about its workers and the way to them.

#ifndef DL_TOOLS_DL_MASTER_WORKERS_H_
#define DL_TOOLS_DL_MASTER_WORKERS_H_

#include "libcore/cli/options.h"
#include "libcore/cluster/run_config/master_options.h"

inline void declare_workers(dl::cli::Options& opt,
                            dl::cluster::MasterOptions& m) {
  opt.section("Workers");
  opt.add("local", &m.local, "COUNT",
          "number of workers to start on this host");
  opt.add("hosts", &m.hosts, "HOSTS",
          "hosts on which to start workers through ssh, such as h1,h2*4,@FILE");
  opt.add("rsh", &m.rsh, "COMMAND",
          "command that runs a command on a host, in place of ssh");
  opt.add("remote", &m.remote, "COMMAND",
          "dl-worker's path on the hosts, with options that all of them get; "
          "default: its path on this host");
  opt.add("restarts", &m.restarts, "COUNT",
          "restarts in a row of a launched worker that dies without having "
          "done any work");
  opt.add("threads", &m.threads, "COUNT",
          "threads of each worker that --local or --hosts starts; 0: its share "
          "of the cores");
  opt.add("device", &m.device, "NAME",
          "device of workers that --local and --hosts start: cpu, cuda, "
          "cuda:N, cuda:all, auto, or reference (slow, for tests)");
  opt.add("precision", &m.precision, "NAME",
          "precision of matrix products in workers that --local and --hosts "
          "start: float32, tf32 or bfloat16");
  opt.add("bind", &m.bind, "ENDPOINT",
          "endpoint to listen on; default: tcp://*:0, any free port");
  opt.add("interface", &m.network.interface, "NAME",
          "listen on the address of this network interface and announce it to "
          "workers");
  opt.add("network", &m.network.network, "NETWORK",
          "listen on this host's address in this network, such as 10.0.0.0/16");
  opt.add("advertise", &m.advertise, "HOST[:PORT]",
          "address announced to workers in place of the one listened on");
  opt.add("master-file", &m.master_file, "FILE",
          "file to write the endpoint to, for dl-worker --master-file");
  opt.add("keys", &m.security.keys, "DIR",
          "folder with server.key and workers/*.pub, made by dl-keygen");
  opt.flag("insecure", &m.security.insecure,
           "allow connections from other hosts without encryption");
  opt.add("min-workers", &m.min_workers, "COUNT",
          "workers to wait for before training begins; 0: all of --local and "
          "--hosts, or 1");
  opt.duration(
      "wait", &m.wait, "TIME",
      "longest wait for workers, at the start and after all have left");
  opt.duration("heartbeat", &m.heartbeat, "TIME",
               "interval between a worker's heartbeats");
  opt.duration(
      "lost-after", &m.lost_after, "TIME",
      "reassign a worker's work after this long without a message from it");
  opt.duration("stuck-after", &m.stuck_after, "TIME",
               "reassign a worker's work after this long without progress");
  opt.flag("speculate", &m.speculate,
           "give the last work of a slow worker to an idle one as well");
  opt.add("skip-bad-shards", &m.skip_bad_shards, "COUNT",
          "damaged or worker-killing shards to leave out before failing");
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
