// Sources and sinks in memory.

#ifndef DL_LIBCORE_IO_MEMORY_H_
#define DL_LIBCORE_IO_MEMORY_H_

#include <memory>
#include <string>
#include <vector>

#include "libcore/io/sink.h"
#include "libcore/io/source.h"

namespace dl::io {

// Gives out a copy of `bytes`.  `name` is for messages.
std::unique_ptr<Source> memory_source(std::span<const std::byte> bytes,
                                      std::string name = "memory");

// Appends to `target`, which must outlive the sink.
std::unique_ptr<Sink> memory_sink(std::vector<std::byte>& target,
                                  std::string name = "memory");

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_MEMORY_H_
