// How fast something goes, for the line of progress.

#ifndef DL_LIBCORE_CLI_RATE_H_
#define DL_LIBCORE_CLI_RATE_H_

#include <cstdint>
#include <string>

namespace dl::cli {

// "90 s", "12 min", "3.5 h"
std::string time_text(double seconds);
// "512 B", "3.4 MB", "1.2 GB"
std::string bytes_text(std::int64_t bytes);

class Rate {
 public:
  struct Place {
    std::int64_t done, total;  // total: 0, not known
  };

  Rate();  // the start
  // "5120 examples, 340/s, 12 MB, 8 min left"; bytes: 0, not known.
  std::string line(std::int64_t count, const char* of, const Place& place,
                   std::int64_t bytes) const;
  // The same after so many seconds.
  static std::string line(std::int64_t count, const char* of,
                          const Place& place, std::int64_t bytes,
                          double seconds);

 private:
  double start_;
};

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_RATE_H_
