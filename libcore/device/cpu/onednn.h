// oneDNN as the cpu device uses it: on the calling thread alone, with memory
// that exists before the call.  Versions 2 and 3 differ in how a primitive is
// described; describe() and describe_backward() know it, and nothing else does.

#ifndef DL_LIBCORE_DEVICE_CPU_ONEDNN_H_
#define DL_LIBCORE_DEVICE_CPU_ONEDNN_H_

#include <cstddef>
#include <initializer_list>
#include <oneapi/dnnl/dnnl.hpp>

#include "libcore/base/error.h"
#include "libcore/tensor/tensor.h"

namespace dl::device {

// Makes OpenMP, on which oneDNN stands, run what the calling thread asks for on
// that thread.  Cheap; called before every use, as the thread may be another
// one each time.
void stay_on_this_thread();

// State that the primitives of one Device share.
struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  tensor::Tensor scratch;  // for the primitive that is running

  void reserve_scratch(std::size_t bytes);
};

// Calls f(), which uses oneDNN's C++ interface, and translates its errors.
template <typename F>
decltype(auto) with_onednn(F f) {
  stay_on_this_thread();
  try {
    return f();
  } catch (const dnnl::error& e) {
    const Code code =
        e.status == dnnl_out_of_memory ? Code::kUnavailable : Code::kBug;
    throw Error{code, std::string("oneDNN: ") + e.what()};
  }
}

// The description of a primitive P, such as dnnl::convolution_forward.  `of` is
// what P's own description takes, without engine and attributes.
template <typename P, typename... Of>
typename P::primitive_desc describe(const OneDnn& dnn,
                                    const dnnl::primitive_attr& attributes,
                                    const Of&... of) {
#if DNNL_VERSION_MAJOR < 3
  return {typename P::desc(of...), attributes, dnn.engine};
#else
  return {dnn.engine, of..., attributes};
#endif
}

// The same for a backward primitive; `forward` is what it is the backward of.
template <typename P, typename Forward, typename... Of>
typename P::primitive_desc describe_backward(
    const OneDnn& dnn, const dnnl::primitive_attr& attributes,
    const Forward& forward, const Of&... of) {
#if DNNL_VERSION_MAJOR < 3
  return {typename P::desc(of...), attributes, dnn.engine, forward};
#else
  return {dnn.engine, of..., forward, attributes};
#endif
}

// Memory for a caller's array, set at each call; and memory of its own.
dnnl::memory borrowed(const dnnl::memory::desc& desc, const OneDnn& dnn);
dnnl::memory owned(const dnnl::memory::desc& desc, const OneDnn& dnn);

struct DnnArgument {
  int name;  // DNNL_ARG_SRC ...
  const dnnl::memory& memory;
};

// Runs a primitive to its end.  At most 7 arguments; scratch is added.
void execute(const dnnl::primitive& primitive, OneDnn& dnn,
             std::initializer_list<DnnArgument> arguments);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_ONEDNN_H_
