#include "libcore/vectorize/other_format.h"

#include <string_view>

#include "libcore/io/looks_like.h"

namespace dl::vectorize {
namespace {

using io::FileClass;

// The file of a source's name, for a command; FILE where it is none.
std::string path_in(const std::string& name) {
  return name.starts_with('\'') && !name.starts_with("'pipe:")
             ? name.substr(1, name.size() - 2)
             : "FILE";
}

// "'pipe:xz -dc t.csv.xz'".  is_unpacked: the reader undid a gzip or zstd
// around the file, which the command does not.
std::string unpacked_by(const std::string& command, const std::string& path,
                        const std::string& member, bool is_unpacked) {
  const char* outer = !is_unpacked             ? nullptr
                      : path.ends_with(".gz")  ? "zcat "
                      : path.ends_with(".zst") ? "zstdcat "
                                               : nullptr;
  if (outer == nullptr || command.starts_with("tar"))
    return "'pipe:" + command + " " + path + member + "'";
  return "'pipe:" + (outer + path) + " | " + command + member + "'";
}

// Whether JSON is an array.
bool is_array(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()),
                              start.size());
  return text[text.find_first_of("[{")] == '[';
}

std::string help_for(const io::FileKind& kind, const std::string& path,
                     bool is_unpacked) {
  const std::string page = "see OTHER FORMATS in dl-preprocess(1)";
  switch (kind.what) {
    case FileClass::kPacked:
      return ": read " + unpacked_by(kind.unpack, path, "", is_unpacked);
    case FileClass::kArchive:
      return ": read a file that is in it, by " +
             unpacked_by(kind.unpack, path, " NAME", is_unpacked);
    case FileClass::kImage:
      return ": dl-preprocess images reads pictures";
    case FileClass::kSound:
      return ": a program writes its samples for raw, " + page;
    case FileClass::kArrays:
      return ": a program writes its numbers for raw, " + page;
    case FileClass::kTable:
      return ": write it as CSV first, " + page;
    case FileClass::kHdf5:
      return ": a program writes its numbers for raw; a model of Keras is for "
             "dl-import; " +
             page;
    case FileClass::kModel:
      return ", no data: dl-import makes a model of dl-tools of it";
    case FileClass::kOurModel:
      return ", no data: dl-infer and dl-eval take it as --model";
    default:
      return "; no format here reads one";
  }
}

}  // namespace

std::string other_format(const std::string& name,
                         std::span<const std::byte> start, bool is_unpacked) {
  const io::FileKind kind = io::file_kind(start);
  if (kind.what == FileClass::kUnknown) return "";
  if (kind.what == FileClass::kOurData)
    return name + " is a DataSet stream already: dl-shard reads it";
  const std::string path = path_in(name);
  if (kind.what == FileClass::kJson)
    return name + " is JSON: read it as CSV, by 'pipe:jq -r \"" +
           (is_array(start) ? ".[] | " : "") + "[.NAME, .NAME] | @csv\" " +
           path + "'";
  return name + " is " + kind.text + help_for(kind, path, is_unpacked);
}

}  // namespace dl::vectorize
