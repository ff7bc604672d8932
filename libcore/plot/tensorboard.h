// A run as an event file of TensorBoard.

#ifndef DL_LIBCORE_PLOT_TENSORBOARD_H_
#define DL_LIBCORE_PLOT_TENSORBOARD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/plot/run.h"

namespace dl::plot {

// Scalars of a run: TFRecords of the protocol buffer Event.  Steps are
// mini-batches in the model for what belongs to one, else epochs from 0; wall
// times are the begin of the run and the seconds of training since.
std::string event_file(const Run& run);
// "events.out.tfevents.1769860800.dl-plot": the same in each call, so that the
// file is replaced.
std::string event_file_name(const Run& run);

// The checksum of a TFRecord: CRC-32C, rotated and offset.
std::uint32_t masked_crc(std::string_view bytes);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_TENSORBOARD_H_
