#include "libcore/device/cuda_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw Error{Code::kUnavailable, "no cuda device: " + why};
}

std::string plugin_path() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) fail("cannot read '/proc/self/exe': " + error.message());
  return program.parent_path() / "libdl_cuda.so";
}

// The object stays loaded: devices made by it may outlive any owner here.
void* load_symbol(const char* name) {
  void* library = dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(dlerror());
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) fail(dlerror());
  return symbol;
}

}  // namespace

std::unique_ptr<tensor::Device> open_cuda(int index) {
  using Open = tensor::Device* (*)(int);
  const auto open = reinterpret_cast<Open>(load_symbol("dl_cuda_open"));
  return std::unique_ptr<tensor::Device>(open(index));
}

std::string cuda_version() {
  using Version = const char* (*)();
  try {
    return reinterpret_cast<Version>(load_symbol("dl_cuda_version"))();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace dl::device
