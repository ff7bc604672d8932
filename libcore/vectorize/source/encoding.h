// Text in another encoding, such as UTF-16 or windows-1252, as UTF-8.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_ENCODING_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_ENCODING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "libcore/io/source.h"

namespace dl::vectorize {

// Whether iconv(3) knows an encoding of this name, as "latin1" or "utf-16le".
bool is_encoding(const std::string& name);
// Throws Error: kUsage, it knows none, with the option.
void check_encoding(const std::string& name);
// Whether `name` is that of `family` or one of it: "utf-16le" of "UTF-16".
bool is_encoding_of(const std::string& name, const std::string& family);

// The bytes of `start` and then those of `source`, as UTF-8.
// encoding: one that is_encoding() knows.
// Reading throws Error: kData, "'a.csv', line 7: byte 0x81 is no character of
// windows-1252".
std::unique_ptr<io::Source> as_utf8(std::unique_ptr<io::Source> source,
                                    std::vector<std::byte> start,
                                    const std::string& encoding);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_ENCODING_H_
