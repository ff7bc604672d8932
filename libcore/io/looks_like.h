// The kind of a file that is not what was expected, for messages.

#ifndef DL_LIBCORE_IO_LOOKS_LIKE_H_
#define DL_LIBCORE_IO_LOOKS_LIKE_H_

#include <cstddef>
#include <span>
#include <string>

namespace dl::io {

// How a file of a kind comes to be of use, which the caller knows.
enum class FileClass {
  kUnknown,  // text, and bytes of no known kind
  kPacked,   // `unpack` gives what is in it
  kArchive,  // `unpack`, with the name of a member, gives one file of it
  kImage,
  kSound,
  kTable,   // of columns, as Parquet and spreadsheets
  kArrays,  // of numbers, as of NumPy
  kHdf5,    // arrays, or a model of Keras
  kJson,
  kModel,  // of another program, that dl-import reads
  kOurModel,
  kOurData,      // a record of a DataSet stream
  kSafetensors,  // of another program
  kOther,        // of no use here
};

struct FileKind {
  FileClass what = FileClass::kUnknown;
  // "a git-LFS pointer (run: git lfs pull)", "gzip data", "text (starts with
  // 'a,b,c')", "unknown data (starts with 00 01 02 03)", "nothing".
  std::string text;
  const char* unpack = nullptr;  // the start of a command
  bool is_certain = false;       // no numbers begin so but by rare chance
};

// ASCII that text has.
bool is_printable(char c);

// `start`: the first bytes: 16 or more, where there are as many, tell most
// kinds, 512 a tar archive, some thousand a spreadsheet from other zip
// archives.
FileKind file_kind(std::span<const std::byte> start);

// Its text.
std::string looks_like(std::span<const std::byte> start);

// Its text, in the place of a DataSet stream, with what makes one of it, if
// that is known: "text (starts with 'a,b'): dl-preprocess makes one of
// raw data".
std::string no_stream_but(std::span<const std::byte> start);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_LOOKS_LIKE_H_
