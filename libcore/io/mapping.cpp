#include "libcore/io/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "libcore/io/source.h"

namespace dl::io {

Mapping::~Mapping() {
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::shared_ptr<const Mapping> map_file(std::string_view spec) {
  const std::string path(spec);
  struct stat info {};
  if (!is_regular(path, info)) return {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  void* memory = MAP_FAILED;
  std::size_t size = 0;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    size = static_cast<std::size_t>(info.st_size);
    memory =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  }
  ::close(fd);
  if (memory == MAP_FAILED) return {};
  return std::make_shared<const Mapping>(
      std::span(static_cast<const std::byte*>(memory), size));
}

}  // namespace dl::io
