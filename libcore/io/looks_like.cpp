// Detection of well-known file formats.

#include "libcore/io/looks_like.h"

#include <algorithm>
#include <string_view>

namespace dl::io {
namespace {

using enum FileClass;
using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileClass what;
  const char* text;
  const char* unpack = nullptr;
  std::size_t at = 0;
};

constexpr const char* kPickle =
    "a pickle of Python (of scikit-learn: skl2onnx writes ONNX, dl-import "
    "reads "
    "it)";

constexpr std::size_t kCertain = 3;  // bytes

constexpr Magic kMagics[] = {
    {"version https://git-lfs"sv, kOther,
     "a git-LFS pointer (run: git lfs pull)"},
    {"\x1f\x8b"sv, kPacked, "gzip data", "gzip -dc"},
    {"\x28\xb5\x2f\xfd"sv, kPacked, "zstd data", "zstd -dc"},
    {"\xfd"
     "7zXZ"sv,
     kPacked, "xz data", "xz -dc"},
    {"BZh"sv, kPacked, "bzip2 data", "bzip2 -dc"},
    {"\xff\xfe\0\0"sv, kPacked, "UTF-32 text", "iconv -f UTF-32 -t UTF-8"},
    {"\0\0\xfe\xff\0\0"sv, kPacked, "UTF-32 text", "iconv -f UTF-32 -t UTF-8"},
    {"\xff\xfe"sv, kPacked, "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff"sv, kPacked, "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
    {"PK\x03\x04"sv, kArchive, "a zip archive", "unzip -p"},
    {"PK\x05\x06"sv, kArchive, "a zip archive", "unzip -p"},
    {"ustar"sv, kArchive, "a tar archive", "tar -xOf", 257},
    {"Rar!\x1a\x07"sv, kOther, "a RAR archive"},
    {"7z\xbc\xaf\x27\x1c"sv, kOther, "a 7z archive"},
    {"\x93NUMPY"sv, kArrays, "a NumPy array"},
    {"\x89HDF"sv, kHdf5, "an HDF5 file"},
    {"PAR1\x15"sv, kTable, "a Parquet file"},
    {"ARROW1\0"sv, kTable, "an Arrow file"},
    {"Obj\x01"sv, kTable, "an Avro file"},
    {"SQLite format 3\0"sv, kTable, "an SQLite database"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, kTable,
     "a document of an old Office, as .xls"},
    {"\x89PNG"sv, kImage, "a PNG image"},
    {"\xff\xd8\xff"sv, kImage, "a JPEG image"},
    {"GIF87a"sv, kImage, "a GIF image"},
    {"GIF89a"sv, kImage, "a GIF image"},
    {"II*\0"sv, kImage, "a TIFF image"},
    {"MM\0*"sv, kImage, "a TIFF image"},
    {"fLaC\0"sv, kSound, "a FLAC sound"},
    {"OggS\0"sv, kSound, "an Ogg sound"},
    {"ID3\x02"sv, kSound, "an MP3 sound"},
    {"ID3\x03"sv, kSound, "an MP3 sound"},
    {"ID3\x04"sv, kSound, "an MP3 sound"},
    {"RIFF"sv, kUnknown, "a RIFF file"},
    {"%PDF-"sv, kOther, "a PDF file"},
    {"<!DOCTYPE"sv, kOther, "an HTML page"},
    {"<!doctype"sv, kOther, "an HTML page"},
    {"<html"sv, kOther, "an HTML page"},
    {"\x80\x02}"sv, kOther, kPickle},
    {"\x80\x04\x95"sv, kOther, kPickle},
    {"\x80\x05\x95"sv, kOther, kPickle},
};

std::string hex_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    if (!text.empty()) text += ' ';
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Zip is the container of other formats.
FileKind kind_of_zip(std::string_view text, FileKind zip) {
  const std::string_view first =
      text.substr(std::min<std::size_t>(30, text.size()));
  const auto is = [](FileClass what, const char* name) {
    return FileKind{what, name, nullptr, true};
  };
  if (first.starts_with("metadata.json") || first.starts_with("config.json"))
    return is(kModel, "a model of Keras");
  if (first.starts_with("configuration.json") ||
      first.starts_with("coefficients.bin"))
    return is(kModel, "a model of Deeplearning4j");
  if (has(text, "/data.pkl"))
    return is(kOther,
              "a file of PyTorch (torch.onnx.export writes ONNX, dl-import "
              "reads it)");
  if (has(text, "xl/work")) return is(kTable, "an Excel file");
  if (has(text, "opendocument.spreadsheet"))
    return is(kTable, "an OpenDocument spreadsheet");
  if (has(first.substr(0, 64), ".npy")) return is(kArrays, "an .npz of NumPy");
  return zip;
}

// A ModelProto that begins with its version and the name of its producer, or
// with its version and the graph.  No image of CIFAR begins so.
bool is_onnx(std::string_view text) {
  constexpr std::size_t kName = 4;
  if (text.size() < 16 || text[0] != '\x08' || text[1] < 1 || text[1] > 31)
    return false;
  std::size_t at = 3;
  if (text[2] == '\x3a') {  // a length, then the first node
    while (at < 8 && static_cast<unsigned char>(text[at]) >= 0x80) ++at;
    return text[at + 1] == '\x0a';
  }
  const std::string_view name =
      text.substr(kName, static_cast<unsigned char>(text[at]));
  return text[2] == '\x12' && name.size() > 2 && name.size() < 64 &&
         std::all_of(name.begin(), name.end(), is_printable);
}

// An object, or an array of objects or arrays: no table begins so.
bool is_json(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string head;
  for (const char c : text)
    if (head.size() < 2 && c != ' ' && c != '\t' && c != '\r' && c != '\n')
      head += c;
  return head == R"({")" || head == "{}" || head == "[{" || head == "[[";
}

FileKind kind_of_riff(std::string_view text, FileKind riff) {
  const std::string_view form =
      text.substr(std::min<std::size_t>(8, text.size()));
  if (form.starts_with("WAVE")) return {kSound, "a WAV sound", nullptr, true};
  if (form.starts_with("WEBP")) return {kImage, "a WebP image", nullptr, true};
  return riff;
}

FileKind kind_of_safetensors(std::string_view text) {
  if (has(text, R"("dl-model")"))
    return {kOurModel, "a model of dl-tools", nullptr, true};
  if (has(text, R"("dl-dataset")"))
    return {kOurData, "a record of DataSets", nullptr, true};
  return {kSafetensors, "a safetensors file", nullptr, true};
}

}  // namespace

bool is_printable(char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

FileKind file_kind(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()),
                              start.size());
  if (text.empty()) return {kUnknown, "nothing"};
  for (const Magic& magic : kMagics) {
    if (text.size() < magic.at ||
        !text.substr(magic.at).starts_with(magic.bytes))
      continue;
    const FileKind kind{
        magic.what, magic.text, magic.unpack,
        (magic.bytes.size() >= kCertain && !has(magic.text, "UTF-")) ||
            text.starts_with("\x1f\x8b\x08")};
    if (text.starts_with("PK")) return kind_of_zip(text, kind);
    return text.starts_with("RIFF") ? kind_of_riff(text, kind) : kind;
  }
  // Readers have 16 bytes at least, hence 8 of a header's JSON.
  if (text.size() > 9 && text.substr(6, 3) == "\0\0{"sv &&
      has("\"} \t\r\n", text.substr(9, 1)))
    return kind_of_safetensors(text);
  if (is_onnx(text)) return {kModel, "an ONNX file", nullptr, true};
  const FileClass what = is_json(text) ? kJson : kUnknown;
  const std::string_view head = text.substr(0, 24);
  if (std::all_of(head.begin(), head.end(), is_printable))
    return {what, "text (starts with '" +
                      std::string(head.substr(0, head.find_first_of("\r\n"))) +
                      "')"};
  return {what,
          "unknown data (starts with " + hex_bytes(text.substr(0, 4)) + ")"};
}

std::string looks_like(std::span<const std::byte> start) {
  return file_kind(start).text;
}

std::string no_stream_but(std::span<const std::byte> start) {
  const FileKind kind = file_kind(start);
  const bool is_raw = kind.text.starts_with("text (") || kind.what == kImage ||
                      kind.what == kSound || kind.what == kTable ||
                      kind.what == kArrays;
  if (is_raw) return kind.text + ": dl-preprocess makes one of raw data";
  return kind.what == kPacked
             ? kind.text + ": read 'pipe:" + kind.unpack + " FILE'"
             : kind.text;
}

}  // namespace dl::io
