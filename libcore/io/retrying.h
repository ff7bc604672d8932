// Commands that are started again when they fail.

#ifndef DL_LIBCORE_IO_RETRYING_H_
#define DL_LIBCORE_IO_RETRYING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "libcore/base/log.h"
#include "libcore/io/source.h"

namespace dl::io {

// As open_source(), but a "pipe:" command that fails is started again, up to
// `retries` times: after 0.5 s, then after twice as long each time, 1 min at
// most.  It must give the same bytes again: those that it gave before are
// compared and passed over.
//
// read() then throws Error: kIo, the command failed once more than that; kData,
// it gave other bytes.
std::unique_ptr<Source> open_retrying(const std::string& spec,
                                      std::int64_t retries, Log log);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_RETRYING_H_
