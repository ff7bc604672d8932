// A record of raw data: named values that a source cut, and nothing decoded
// yet.

#ifndef DL_LIBCORE_VECTORIZE_RECORD_H_
#define DL_LIBCORE_VECTORIZE_RECORD_H_

#include <map>
#include <string>
#include <string_view>

namespace dl::vectorize {

struct Record {
  std::string name;  // as messages call it: "'photos/cat/01.jpg'"
  // Text or bytes by name: "bytes", "path", "folder", ...
  std::map<std::string, std::string, std::less<>> columns;
  // The file whose contents are to become the column "bytes"; "": it is there,
  // or there is none.  Whoever works on the record reads it, side by side with
  // others: load().
  std::string file;
  // A column that is not there is an empty text.
  bool is_sparse = false;
  // The reason why there is nothing to be made of it, or "".
  std::string problem;

  // The column of that name, or, of names as "jpg;png", the first that is
  // there. Throws Error: kData, not of a sparse record, "there is no column
  // 'x'; it has 'bytes', 'path'".
  const std::string& at(std::string_view column) const;
};

// The most bytes that a file of a record may have.
constexpr std::size_t kMaxRecordFile = std::size_t{256} << 20;

// Reads `file` into the column "bytes".
// Throws Error: kData, it cannot be read, is too large, or changes meanwhile;
// without its name.
void load(Record& record);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECORD_H_
