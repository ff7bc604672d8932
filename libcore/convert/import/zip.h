// Zip archives: members by name, read with libzip.  Called in a sandbox
// (sandbox.h) alone.  No name of a member is ever used as a path.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ZIP_H_
#define DL_LIBCORE_CONVERT_IMPORT_ZIP_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dl::convert {

class Zip {
 public:
  // Opens an archive in memory, which outlives this. Throws Error: kData, it is
  // none.
  explicit Zip(std::span<const std::byte> file);
  ~Zip();

  std::vector<std::string> names() const;
  // Throws Error: kData, there is no such member, it is damaged, it unpacks to
  // more than `most` bytes.
  std::string member(const std::string& name, std::size_t most) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_ZIP_H_
