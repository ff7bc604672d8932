// The options of dl-master as the command line gives them, and what follows
// from them.  Names, defaults and meanings are in dl-master(1).

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_MASTER_OPTIONS_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_MASTER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/cluster/settings/exchange_options.h"
#include "libcore/cluster/settings/limits.h"
#include "libcore/cluster/settings/settings.h"
#include "libcore/cluster/transport/own_address.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/data/format/metadata.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

struct MasterOptions {
  // Options about the network and the data.
  std::string net, init;
  std::vector<std::string> reset;  // layers not to be taken from init
  std::vector<std::string> data, eval_data;
  std::string output;
  std::string run;  // run directory; "": OUTPUT.run
  bool fresh = false;
  std::string preview_augment;  // output for a sheet of pictures; "": none
  std::string normalize = "auto", normalize_targets = "auto";
  std::string seed;  // seed; "": the network's

  // Options about the way of training.
  std::string mode = "auto";
  // The outcome of --mode auto, choose_mode.h: whether it is measured if sync
  // takes the place of the mode; how many workers of this host are one process,
  // or 0.
  bool measure = false;
  std::int64_t merged = 0;
  std::int64_t epochs = 1;
  bool epochs_given = true;   // whether --epochs was given
  std::int64_t pretrain = 0;  // epochs of each stage, pretraining.h; 0: none
  std::int64_t batch = 32;
  std::int64_t prefetch = 2;
  std::int64_t lr_warmup = -1;  // steps; -1: as the updaters want it
  bool deterministic = false;
  AveragingOptions averaging;
  SharingOptions sharing;
  std::string update_log = "prune";
  std::string topology = "auto";
  std::int64_t fan_out = 8;

  // Options about the end of the run and the model that is kept.
  std::vector<std::string> evaluate;
  std::string metric, target;
  std::int64_t patience = 0;
  std::chrono::milliseconds max_time{0};
  std::string keep;  // "best" or "last"; "": best with patience, else last
  std::string on_divergence = "reduce";

  // Options about workers.
  std::int64_t local = 0;
  std::string hosts;                      // text of --hosts, "h1,h2*4,@file"
  std::vector<std::string> hosts_listed;  // host of each worker, host_list.h
  std::string rsh =
      "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15";
  std::string remote;         // command for dl-worker on hosts; "": as here
  std::int64_t restarts = 4;  // restarts of a worker in a row without work
  // Options of the workers that the master starts.  0 threads: cores / workers
  // on this host; on others the worker chooses.
  std::int64_t threads = 0;
  std::string device = "cpu", precision = "float32";
  std::string bind;       // address to listen at; "": tcp://*:0
  NetworkChoice network;  // addresses of this host to listen at
  std::string advertise;  // address to announce instead: HOST[:PORT]
  std::string master_file;
  Security security;
  std::int64_t min_workers = 0;  // 0: the number of started workers, or 1
  std::chrono::milliseconds wait{120000};
  std::chrono::milliseconds heartbeat{2000};
  std::chrono::milliseconds lost_after{6000};
  std::chrono::milliseconds stuck_after{60000};
  std::chrono::milliseconds grace{25000};
  std::int64_t skip_bad_shards = 0;
  bool speculate = false;

  // Options about checkpoints.
  std::chrono::milliseconds checkpoint_every{300000};
  std::int64_t checkpoint_batches = 0;

  std::string plot;         // [ADDRESS:]PORT to draw the run at; "": nowhere
  std::string tensorboard;  // folder for event files; "": none are written
  // Mini-batches between two "summary" events; 0: none.
  std::int64_t summary = 0;

  bool dry_run = false;
  bool estimate = false;  // measure what more hosts would bring, train nothing

  // Instead of training: rebuild the model after an update of this run.
  std::string replay;      // a run directory, or ""
  std::int64_t step = -1;  // update to rebuild; -1: the last
  bool list = false;       // whether only to list what can be rebuilt

  // The layer of a run that is a stage of pretraining, "" if the run comes
  // after all; and the model of all stages before, "" in the first.
  std::string stage, pretrained;
  // Told where the master listens; may be empty.
  std::function<void(const std::string& endpoint)> listening;

  std::string version;  // version of dl-tools
  // Readable once a signal asks the master to stop; -1: never.
  int stop = -1;
  std::function<std::string()> stop_name;
  // Shows a line that a worker on another host wrote; may be empty.
  std::function<void(const std::string&)> show;
  // Shows a line of progress; may be empty.
  std::function<void(const std::function<std::string()>&)> progress;
  bool detail = false;         // whether progress lines tell of the exchange
  bool progress_json = false;  // whether they are JSON
};

// Workers that the master starts itself.
inline std::int64_t started_workers(const MasterOptions& options) {
  return options.local + static_cast<std::int64_t>(options.hosts_listed.size());
}

// The settings that shape the result.  data: of the training data; held_out: of
// those, empty if there are none. Throws Error: kUsage; kConfig, an evaluation
// does not take the labels.
Settings settings_of(const MasterOptions& options,
                     const nn::NetworkConfig& network,
                     const data::Metadata& data,
                     const data::Metadata& held_out);

// Throws Error: kUsage.
Limits limits_of(const MasterOptions& options);

// The run directory that the options name.
std::string run_folder(const MasterOptions& options);

// Whether the best model is kept, rather than the last.
// Throws Error: kUsage.
bool keeps_best(const MasterOptions& options);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_MASTER_OPTIONS_H_
