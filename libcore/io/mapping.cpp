// Memory mapping of files, safe against truncation.

#include "libcore/io/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "libcore/io/mapped_file.h"
#include "libcore/io/source.h"

namespace dl::io {
namespace {

std::unique_ptr<MappedFile> open_whole(std::string_view spec) {
  std::string path(spec);
  struct stat info {};
  if (!is_regular(path, info)) return {};
  auto file = std::make_unique<MappedFile>(std::move(path));
  return file->ok() ? std::move(file) : nullptr;
}

// Whether all of it could be read.
bool read_into(std::byte* memory, const MappedFile& file) {
  std::size_t done = 0;
  while (done < file.size()) {
    const ssize_t got = ::pread(file.descriptor(), memory + done,
                                file.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

Mapping::Mapping(std::span<const std::byte> bytes,
                 std::shared_ptr<const MappedFile> file)
    : bytes_(bytes), file_(std::move(file)) {}

Mapping::~Mapping() {
  file_.reset();  // before the memory can be another's
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void Mapping::require_unchanged() const {
  if (file_) file_->require_unchanged();
}

std::shared_ptr<const Mapping> map_file(std::string_view spec) {
  std::unique_ptr<MappedFile> file = open_whole(spec);
  if (!file) return {};
  const int fd = file->descriptor();
  void* memory = ::mmap(nullptr, file->size(), PROT_READ,
                        MAP_PRIVATE | MAP_POPULATE, fd, 0);
  if (memory == MAP_FAILED) return {};
  const std::span bytes(static_cast<const std::byte*>(memory), file->size());
  file->watch(bytes);
  return std::make_shared<const Mapping>(bytes, std::move(file));
}

std::shared_ptr<const Mapping> copy_file(std::string_view spec) {
  const std::unique_ptr<MappedFile> file = open_whole(spec);
  if (!file) return {};
  void* memory = ::mmap(nullptr, file->size(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  auto* bytes = static_cast<std::byte*>(memory);
  auto copy = std::make_shared<const Mapping>(std::span(bytes, file->size()));
  const bool whole = read_into(bytes, *file);
  file->require_unchanged();
  return whole ? copy : nullptr;
}

}  // namespace dl::io
