#include "libcore/device/cuda_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw Error{Code::kUnavailable, "no cuda device: " + why};
}

// Where it is built, or where it is installed.
std::string plugin_path() {
  constexpr const char* kName = "libdl_cuda.so";
  if (const char* const named = std::getenv("DL_CUDA_PLUGIN")) return named;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) fail("cannot read '/proc/self/exe': " + error.message());
  const auto folder = program.parent_path();
  for (const auto& path :
       {folder / kName, folder.parent_path() / "lib/dl-tools" / kName})
    if (std::filesystem::exists(path, error)) return path;
  fail("these programs were built without CUDA");
}

void* symbol_of(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) fail(dlerror());
  return symbol;
}

// The object stays loaded: devices made by it may outlive any owner here.
void* load_symbol(const char* name) {
  void* const library = dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(dlerror());
  using Abi = const char* (*)();
  const std::string abi =
      reinterpret_cast<Abi>(symbol_of(library, "dl_cuda_abi"))();
  if (abi != DL_DEVICE_ABI)
    fail("'" + plugin_path() +
         "' is of another build than this program; install both together");
  return symbol_of(library, name);
}

}  // namespace

std::unique_ptr<tensor::Device> open_cuda(int index,
                                          tensor::Precision precision) {
  using Open = tensor::Device* (*)(int, tensor::Precision);
  const auto open = reinterpret_cast<Open>(load_symbol("dl_cuda_open"));
  return std::unique_ptr<tensor::Device>(open(index, precision));
}

std::string cuda_version() {
  using Version = const char* (*)();
  try {
    return reinterpret_cast<Version>(load_symbol("dl_cuda_version"))();
  } catch (const Error&) {
    return {};
  }
}

int cuda_count() {
  using Count = int (*)();
  try {
    return reinterpret_cast<Count>(load_symbol("dl_cuda_count"))();
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace dl::device
