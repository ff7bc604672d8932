// Reading of zip archives.

#include "libcore/convert/import/zip.h"

#include <zip.h>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert {
namespace {

constexpr zip_int64_t kMaxMembers = 100'000;

}  // namespace

struct Zip::State {
  zip_t* archive = nullptr;
  ~State() {
    if (archive != nullptr) zip_discard(archive);
  }
};

Zip::Zip(std::span<const std::byte> file) : state_(std::make_unique<State>()) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source =
      zip_source_buffer_create(file.data(), file.size(), 0, &error);
  if (source == nullptr) bad_data("the zip library has no memory for it");
  state_->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (state_->archive == nullptr) {
    const std::string why = zip_error_strerror(&error);
    zip_source_free(source);
    bad_data("the zip library cannot read it: " + displayed(why));
  }
  if (zip_get_num_entries(state_->archive, 0) > kMaxMembers)
    bad_data("it has more than " + std::to_string(kMaxMembers) + " members");
}

Zip::~Zip() = default;

std::vector<std::string> Zip::names() const {
  std::vector<std::string> all;
  const zip_int64_t count = zip_get_num_entries(state_->archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name =
        zip_get_name(state_->archive, static_cast<zip_uint64_t>(i), 0);
    if (name != nullptr) all.emplace_back(name);
  }
  return all;
}

std::string Zip::member(const std::string& name, std::size_t most) const {
  const std::string quoted = in_quotes(name);
  const zip_int64_t at =
      zip_name_locate(state_->archive, name.c_str(), ZIP_FL_ENC_RAW);
  if (at < 0) bad_data("it has no member " + quoted);
  const zip_int64_t count = zip_get_num_entries(state_->archive, 0);
  for (zip_int64_t i = at + 1; i < count; ++i) {
    const char* other = zip_get_name(
        state_->archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (other != nullptr && name == other)
      bad_data("it has two members " + quoted);
  }
  zip_stat_t about;
  if (zip_stat_index(state_->archive, static_cast<zip_uint64_t>(at), 0,
                     &about) < 0 ||
      (about.valid & ZIP_STAT_SIZE) == 0)
    bad_data("its member " + quoted + " has no size");
  if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 &&
      about.encryption_method != ZIP_EM_NONE)
    bad_data("its member " + quoted + " is encrypted");
  if (about.size > most)
    bad_data("its member " + quoted + " unpacks to " +
             std::to_string(about.size) + " bytes, more than the " +
             std::to_string(most) + " that it may");
  zip_file_t* member =
      zip_fopen_index(state_->archive, static_cast<zip_uint64_t>(at), 0);
  if (member == nullptr)
    bad_data("the zip library cannot unpack " + quoted + ": " +
             displayed(zip_strerror(state_->archive)));
  std::string bytes(about.size, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const zip_int64_t n =
        zip_fread(member, bytes.data() + got, bytes.size() - got);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  // Its checksum is compared at the end.
  char beyond = 0;
  const zip_int64_t more =
      got == bytes.size() ? zip_fread(member, &beyond, 1) : -1;
  zip_fclose(member);
  if (more != 0) bad_data("its member " + quoted + " is damaged");
  return bytes;
}

}  // namespace dl::convert
