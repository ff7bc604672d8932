// A digest of the records of an input, by which it is known again whatever it
// is called, and however it is packed.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_

#include <sys/stat.h>

#include <string>

#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/vectorize/record.h"

namespace dl::vectorize {

class RecordsDigest {
 public:
  void add(const Record& record) {
    any_ = true;
    for (const auto& [name, value] : record.columns) {
      if (name == "file:line") continue;  // the input's name
      digest_.add_text(name);
      digest_.add_text(std::to_string(value.size()));
      digest_.add_text(value);
    }
    // Size and time stand for the contents of a file that is not read.
    struct stat status {};
    if (!record.file.empty() && ::stat(record.file.c_str(), &status) == 0)
      digest_.add_text(std::to_string(status.st_size) + " " +
                       std::to_string(status.st_mtim.tv_sec) + " " +
                       std::to_string(status.st_mtim.tv_nsec));
    digest_.add_text("");  // the record's end
  }
  bool any() const { return any_; }
  std::string value() const { return io::hex(digest_.value()); }

 private:
  io::Digest digest_;
  bool any_ = false;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECORDS_DIGEST_H_
