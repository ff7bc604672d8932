// Reading of --net and --init.

#include "libcore/cluster/run_config/read_network.h"

#include <span>

#include "libcore/base/byte_order_mark.h"
#include "libcore/base/error.h"
#include "libcore/io/looks_like.h"
#include "libcore/io/source.h"
#include "libcore/nn/config/config_table.h"

namespace dl::cluster {

namespace {

constexpr std::size_t kFirstBytes = 4096;  // tell the kind of a file
constexpr std::size_t kMaxNetwork = std::size_t{16} << 20;

std::string first_bytes(io::Source& source) {
  std::string text(kFirstBytes, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const std::size_t n =
        source.read(std::as_writable_bytes(std::span(text)).subspan(size));
    if (n == 0) break;
    size += n;
  }
  text.resize(size);
  return text;
}

// Throws Error: kConfig, a file that begins so is no JSON.
void refuse_other_file(const std::string& start, const std::string& name) {
  const io::FileKind kind = io::file_kind(std::as_bytes(std::span(start)));
  switch (kind.what) {
    case io::FileClass::kUnknown:
    case io::FileClass::kJson:
      return;
    case io::FileClass::kOurModel:
      bad_config(name + ": is a model, and no network; --init trains it on");
    case io::FileClass::kModel:
    case io::FileClass::kHdf5:
      bad_config(name + ": is " + kind.text +
                 ", and no network; dl-import makes a model of it, which "
                 "--init trains on");
    default:
      if (wide_encoding(start).empty())
        bad_config(name + ": is " + kind.text + ", and no network");
  }
}

}  // namespace

nn::NetworkConfig read_network(const std::string& spec) {
  const auto source = io::open_source(spec);
  std::string text = first_bytes(*source);
  refuse_other_file(text, source->name());
  try {
    text += io::read_all(*source, kMaxNetwork);
  } catch (const Error& e) {  // of a network too much is no data either
    throw Error{e.code() == Code::kData ? Code::kConfig : e.code(), e.what()};
  }
  source->close();
  return nn::parse_network(text, source->name());
}

}  // namespace dl::cluster
