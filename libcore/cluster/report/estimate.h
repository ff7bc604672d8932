// Estimate of the speed of training on more hosts, from the cost of a step here
// and the bandwidth of the lines between master and workers.
//
// Of N hosts, with C seconds of computation for a mini-batch, C(N) for the
// slowest of N of them, E for coding and D for decoding one update of P bytes,
// M parameters of 4 bytes, a line of B bytes/s in each direction at every host,
// round trips of L seconds for a message there and one back, and F for another
// message received, or sent:
//
//   sharing    max(C + E + N D + L + (N - 1) F, the lines), with 2 F for L
//              where more than one update of a worker may be under way: a
//              worker's line carries N P a step, the master's N P to each of
//              its children, N in a star, the fan-out in a tree; a worker's
//              with children as much
//   averaging  (C(N) of H mini-batches + A (overlapped: max) R / B + L) / H, a
//              round of H mini-batches with A seconds of coding, whose R bytes
//              pass one after the other: in a star twice what each replica
//              sends; in a tree sums of eight on each level, and on the way
//              down the fan-out times one
//   sync       S2 + C(N) - C + ((4 N - 3) / 2 N - 5 / 4) Y: pieces of gradients
//              go to whom averages them, and averages to all, and to the
//              master; S2 is a whole step of one of two such hosts, and Y for
//              all pieces there and back; one host S1, a step in which the
//              master averages; from 65 hosts on S1 + C(N) - C, and what passes
//              one after the other as in averaging, with 4 M bytes of a replica
//
// all in seconds a mini-batch of each host.

#ifndef DL_LIBCORE_CLUSTER_REPORT_ESTIMATE_H_
#define DL_LIBCORE_CLUSTER_REPORT_ESTIMATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/settings/settings.h"
#include "libcore/cluster/settings/topology.h"

namespace dl::cluster {

// Measurements of a worker; times in seconds, means.
struct HostFigures {
  std::string name;
  double compute = 0;  // time of a mini-batch, with the updater
  double compute_from = 0, compute_to = 0;  // eight of ten times lie between
  double encode = 0;                        // coding of its update
  double decode = 0;        // decoding of another worker's update
  double update_bytes = 0;  // bytes of a coded update
  double delta_bytes = 0;   // bytes that a replica sends in a round
  double round = 0;         // coding of these bytes and of the average
  double exchange = 0;      // time added by sending an update and the answer
  double sync_alone = 0;    // step of sync on one host
  double sync_pair = 0;     // step of sync on each of two equal hosts
  double bandwidth = 0;     // bytes/s to and from the master
  double gradient = 0;  // sending its pieces there and back, without round_trip
  double round_trip = 0;    // round trip of an update
  double message = 0;       // one more short message received or sent meanwhile
  Slowest slowest{};        // slowest of so many, for a mini-batch
  Slowest slowest_round{};  // slowest of so many, for --frequency mini-batches
};

// Bytes a second, on one side of which one way is faster than another: on lines
// of less, the fewer bytes, or of more, the less work.
struct BreakEven {
  enum Side { kBelow, kAbove, kAlways, kNever } side = kNever;
  double bytes = 0;  // bytes a second; 0 except for kBelow and kAbove
};

struct Estimate {
  std::vector<HostFigures> hosts;
  std::int64_t parameters = 0;
  std::int64_t batches = 0;  // mini-batches of an epoch
  double examples = 0;  // mean examples of a mini-batch; the last has fewer
  std::string no_sync;  // reason why sync does not fit this network, or ""
  Settings settings;
  Topology topology = Topology::kAuto;
  std::int64_t fan_out = 8;
  bool local = false;  // whether the hosts are workers of one host
  // Measured in a moment, for choose() alone; not "": why it could not be.
  bool quick = false;
  std::string failure;
  // Quick: no second worker came in time, so nothing was measured.
  bool alone = false;

  // Examples a second of `workers` hosts like the mean of those measured.
  // workers >= 1; a single one exchanges with the master.
  double rate(Mode mode, std::int64_t workers) const;
  // The lines on which sharing is faster than sync.  workers >= 2.
  BreakEven break_even(std::int64_t workers) const;
  // Bytes a second that a line must carry so that sharing waits for none.
  double enough(std::int64_t workers) const;
  // Mini-batch, staleness, and what should be otherwise, for as many workers as
  // were measured; lines, or "".
  std::string workers_text() const;
  // Hosts whose mini-batches differ much; lines, or "".
  std::string unsteady_text() const;
  // Examples a second of one host in its fastest mode.
  double rate_of_one() const;
  // One sentence for as many hosts as were measured.
  std::string advice() const;

  // The mode that --mode auto takes for so many workers, >= 2, or one that is
  // alone: sync, which is exact, if it is nearly as fast as sharing; and the
  // figures.
  struct Choice {
    Mode mode = Mode::kSharing;
    std::string why;  // "sharing, 5200 examples/s expected; sync 3100"
  };
  Choice choose(std::int64_t workers) const;

  std::string to_text() const;
  Json to_json() const;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_ESTIMATE_H_
