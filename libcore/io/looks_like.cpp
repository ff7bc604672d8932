#include "libcore/io/looks_like.h"

#include <algorithm>
#include <string_view>

namespace dl::io {
namespace {

struct Magic {
  std::string_view bytes;
  const char* what;
};

constexpr Magic kMagics[] = {
    {"version https://git-lfs", "a git-LFS pointer (run: git lfs pull)"},
    {"\x1f\x8b", "gzip data"},
    {"\x28\xb5\x2f\xfd", "zstd data"},
    {"\xfd"
     "7zXZ",
     "xz data"},
    {"BZh", "bzip2 data"},
    {"PK\x03\x04", "a zip archive"},
    {"\x93NUMPY", "a NumPy array"},
    {"\x89HDF", "an HDF5 file"},
    {"\x89PNG", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"RIFF", "a RIFF file"},
    {"%PDF", "a PDF file"},
    {"<!DOCTYPE", "an HTML page"},
    {"<html", "an HTML page"},
};

bool printable(char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

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

}  // namespace

std::string looks_like(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()),
                              start.size());
  if (text.empty()) return "nothing";
  for (const Magic& magic : kMagics)
    if (text.starts_with(magic.bytes)) return magic.what;
  // The reader that calls this has 16 bytes, hence 10 of a header's JSON.
  if (text.size() > 9 && text[8] == '{' && text[7] == '\0')
    return "a safetensors file";
  const std::string_view head = text.substr(0, 24);
  if (std::all_of(head.begin(), head.end(), printable))
    return "text (starts with '" +
           std::string(head.substr(0, head.find_first_of("\r\n"))) + "')";
  return "unknown data (starts with " + hex_bytes(text.substr(0, 4)) + ")";
}

}  // namespace dl::io
