// Loading of the plug-in libdl_cuda.so.

#include "libcore/device/cuda_plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw Error{Code::kUnavailable, "no cuda device: " + why};
}

// Set and empty is as unset; to dlopen(3) it would be this program.
const char* named_plugin() {
  const char* const name = std::getenv("DL_CUDA_PLUGIN");
  return name == nullptr || *name == '\0' ? nullptr : name;
}

// why: of the object at `path`, which dlerror(3) begins with.
[[noreturn]] void refuse(const std::string& path, std::string why) {
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  if (named_plugin() == nullptr) fail("'" + path + "': " + why);
  throw Error{Code::kUnavailable, "DL_CUDA_PLUGIN=" + path + ": " + why};
}

// Where it is built, or where it is installed.
std::string plugin_path() {
  constexpr const char* kName = "libdl_cuda.so";
  if (named_plugin() != nullptr) return named_plugin();
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) fail("cannot read '/proc/self/exe': " + error.message());
  const auto folder = program.parent_path();
  const auto installed = folder.parent_path() / "lib/dl-tools" / kName;
  for (const auto& path : {folder / kName, installed})
    if (std::filesystem::exists(path, error)) return path;
  fail("these programs were built without CUDA, or '" + installed.string() +
       "' was left out");
}

// Opening a pipe may wait for ever; and without a '/' dlopen(3) would look
// elsewhere.
void refuse_odd(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    refuse(path, error ? error.message() : "is no file");
}

// A process that touches what is missing of an object would be killed.
void refuse_cut(const std::string& path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return;
  const std::uint64_t end =
      header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  std::error_code error;
  if (std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) ==
          ELFMAG &&
      std::filesystem::file_size(path, error) < end)
    refuse(path, "cut short; install it again");
}

[[noreturn]] void refuse_other(const std::string& path) {
  refuse(path, "of another build than this program; install both together");
}

// Calling data would kill the process.
void* function_of(void* library, const std::string& path, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) refuse(path, dlerror());
  Dl_info info;
  void* entry = nullptr;
  if (dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
      ELF64_ST_TYPE(static_cast<const Elf64_Sym*>(entry)->st_info) != STT_FUNC)
    refuse_other(path);
  return symbol;
}

// The object stays loaded: devices made by it may outlive any owner here.
void* load_function(const char* name) {
  const std::string path = std::filesystem::absolute(plugin_path()).string();
  refuse_odd(path);
  refuse_cut(path);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, dlerror());
  using Abi = const char* (*)();
  const char* const abi =
      reinterpret_cast<Abi>(function_of(library, path, "dl_cuda_abi"))();
  if (abi == nullptr || std::string_view(abi) != DL_DEVICE_ABI)
    refuse_other(path);
  return function_of(library, path, name);
}

// As CUDA's runtime looks for it.  The emulation of the tests needs none.
bool has_driver() {
  return named_plugin() != nullptr ||
         dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

}  // namespace

std::unique_ptr<Device> open_cuda(int index, Precision precision) {
  using Open = Device* (*)(int, Precision);
  if (!has_driver()) throw no_gpu(kNoDriver);
  const auto open = reinterpret_cast<Open>(load_function("dl_cuda_open"));
  return std::unique_ptr<Device>(open(index, precision));
}

CudaVersion cuda_version() {
  using Version = const char* (*)();
  try {
    plugin_path();
  } catch (const Error&) {
    return {};
  }
  try {
    const auto version =
        reinterpret_cast<Version>(load_function("dl_cuda_version"));
    return {.text = version()};
  } catch (const Error& e) {
    return {.why_none = e.what()};
  }
}

Gpus count_gpus() {
  using Count = int (*)();
  if (!has_driver()) return {.why_none = kNoDriver};
  try {
    const int count = reinterpret_cast<Count>(load_function("dl_cuda_count"))();
    if (count > 0) return {.count = count};
    return {.why_none = kNoGpu};
  } catch (const Error& e) {
    return {.why_none = e.what(), .broken = true};
  }
}

}  // namespace dl::device
