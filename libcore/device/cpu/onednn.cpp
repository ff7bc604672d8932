// Running of oneDNN primitives on the calling thread.

#include "libcore/device/cpu/onednn.h"

#include <array>

// Declared by libgomp, which oneDNN links; <omp.h> would want -fopenmp.
extern "C" void omp_set_num_threads(int);

namespace dl::device {

void stay_on_this_thread() { omp_set_num_threads(1); }

void OneDnn::reserve_scratch(std::size_t bytes) {
  if (bytes > scratch.bytes().size())
    scratch.resize(tensor::DType::kU8,
                   tensor::Shape{static_cast<std::int64_t>(bytes)});
}

dnnl::memory borrowed(const dnnl::memory::desc& desc, const OneDnn& dnn) {
  return {desc, dnn.engine, DNNL_MEMORY_NONE};
}

dnnl::memory owned(const dnnl::memory::desc& desc, const OneDnn& dnn) {
  return {desc, dnn.engine};
}

void execute(const dnnl::primitive& primitive, OneDnn& dnn,
             std::initializer_list<DnnArgument> arguments) {
  stay_on_this_thread();
  // The C interface, as the C++ one makes a map and a vector at each call.
  std::array<dnnl_exec_arg_t, 7> list;
  require(arguments.size() <= list.size(), "too many oneDNN arguments");
  int count = 0;
  for (const DnnArgument& argument : arguments)
    list[static_cast<std::size_t>(count++)] = {argument.name,
                                               argument.memory.get()};
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(), dnn.stream.get(), count, list.data());
  require(status == dnnl_success, "oneDNN failed to run a primitive");
}

}  // namespace dl::device
