// Sequences cut into segments of tbptt_length steps, which a network with
// "tbptt_update" goes through one after the other, each with an update of its
// own, its states carried on (Williams and Peng, "An Efficient Gradient-Based
// Algorithm for On-Line Training of Recurrent Network Trajectories", 1990).

#ifndef DL_LIBCORE_NN_TIME_SEGMENTS_H_
#define DL_LIBCORE_NN_TIME_SEGMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"

namespace dl::nn {

// Why the network cannot be trained so, one sentence each.
std::vector<std::string> check_segments(const NetworkConfig& config,
                                        const Layout& layout);

class TimeSegments {
 public:
  // Segments of a network with tbptt_update that is longer than a segment.
  TimeSegments(const NetworkConfig& whole, const Layout& layout);
  // Whether it is such a network.
  static bool has(const NetworkConfig& config, const Layout& layout);

  std::int64_t count() const { return count_; }
  // Configuration of a segment: the same with shorter inputs.
  const NetworkConfig& config() const { return config_; }

  // Segment s of a mini-batch that fits the network, until the next call.  The
  // last one is made up with steps that do not count.
  const Batch& cut(const Batch& batch, std::int64_t s);
  // Segment s of predictions goes to its place in `to`, which has room for all.
  void put(const Prediction& from, std::int64_t s, Prediction& to) const;

 private:
  struct Room {
    tensor::Tensor values, mask;
  };
  void cut(const Part& from, Part& to, Room& room, std::int64_t s,
           bool is_input) const;
  const tensor::Tensor* cut_mask(const tensor::Tensor* mask,
                                 tensor::Tensor& room, std::int64_t examples,
                                 std::int64_t s) const;

  std::int64_t steps_, length_, count_;
  NetworkConfig config_;
  Batch batch_;
  std::vector<Room> inputs_, outputs_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_TIME_SEGMENTS_H_
