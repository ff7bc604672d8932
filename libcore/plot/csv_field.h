// A field of a CSV table.

#ifndef DL_LIBCORE_PLOT_CSV_FIELD_H_
#define DL_LIBCORE_PLOT_CSV_FIELD_H_

#include <string>

namespace dl::plot {

// In quotes where it has to be, RFC 4180.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_CSV_FIELD_H_
