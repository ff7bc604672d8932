// Records of TensorBoard's event files: TFRecords of the protocol buffer Event.

#ifndef DL_LIBCORE_PLOT_EVENT_RECORDS_H_
#define DL_LIBCORE_PLOT_EVENT_RECORDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/nn/config/config.h"
#include "libcore/plot/filters.h"
#include "libcore/plot/history.h"

namespace dl::plot {

// Tags and text may have any bytes.  Numbers that are not finite make no
// record.
class EventRecords {
 public:
  // begin: wall time from which seconds count; since 1970.
  explicit EventRecords(double begin) : begin_(begin) {}

  void version();  // the first record of a file
  void scalar(const std::string& tag, double step, double seconds,
              double value);
  void histogram(const std::string& tag, double step, double seconds,
                 const Spread& of);
  void histogram(const std::string& tag, double step, double seconds,
                 const Bins& of);
  void image(const std::string& tag, double step, double seconds,
             const FilterPicture& picture);
  // counts: for each threshold from 0 to 1, at equal distances, true and false
  // positives, true and false negatives.
  void pr_curve(const std::string& tag, double step, double seconds,
                std::span<const std::array<double, 4>> counts);
  void graph(const nn::NetworkConfig& network);
  // For the plug-in "hparams".  settings: rows of name and JSON.
  void hparams_start(
      const std::vector<std::pair<std::string, std::string>>& settings);
  void hparams_end(bool over, double seconds);

  // Records since the last call.
  std::string take();

 private:
  void summary(double step, double seconds, const std::string& value);
  void hparams(const char* tag, const std::string& content);

  double begin_;
  std::string text_;
};

// The checksum of a TFRecord: CRC-32C, rotated and offset.
std::uint32_t masked_crc(std::string_view bytes);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EVENT_RECORDS_H_
