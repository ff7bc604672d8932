// The contents of a descriptor of cuDNN's graph API, emulated.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_DNN_OBJECTS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_DNN_OBJECTS_H_

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace dl::device::cuda {

struct DnnObject;
using DnnObjects = std::vector<std::shared_ptr<const DnnObject>>;

// As it was given: numbers and the like in bytes, or other objects.
struct DnnAttribute {
  std::int64_t count = 0;
  std::vector<std::byte> bytes;
  DnnObjects objects;
};

struct DnnObject {
  cudnnBackendDescriptorType_t type{};
  std::map<cudnnBackendAttributeName_t, DnnAttribute> attributes;
  bool finalized = false;
  // Properties of an engine.
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool loses_nan = false;  // in relu
  // State of a plan: what is between its operations, by tensor.
  mutable std::map<std::int64_t, std::vector<float>> between;

  bool has(cudnnBackendAttributeName_t name) const {
    return attributes.contains(name);
  }
  template <class T>
  std::span<const T> values(cudnnBackendAttributeName_t name) const {
    const DnnAttribute& a = attributes.at(name);
    return {reinterpret_cast<const T*>(a.bytes.data()),
            static_cast<std::size_t>(a.count)};
  }
  template <class T>
  T value(cudnnBackendAttributeName_t name) const {
    return values<T>(name)[0];
  }
  const DnnObjects& objects(cudnnBackendAttributeName_t name) const {
    return attributes.at(name).objects;
  }
  const DnnObject& object(cudnnBackendAttributeName_t name) const {
    return *objects(name)[0];
  }

  // Properties of a tensor.
  std::span<const std::int64_t> extents() const {
    return values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  }
  std::span<const std::int64_t> strides() const {
    return values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  }
  cudnnDataType_t data_type() const {
    return value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  }
  std::int64_t id() const {
    return value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  }
  bool is_virtual() const {
    return has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
           value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  }
};

// The tensors of an operation, one of which is its result.  For a sum x and w
// are the addends; for relu both are its input.
struct DnnOperands {
  const DnnObject *x, *w, *y;
  const DnnObject* result;
  const DnnObject* window;  // of a convolution, else null
};
DnnOperands operands_of(const DnnObject& operation);
bool is_relu(const DnnObject& pointwise);  // else a sum

// An attribute that a descriptor of some type has.
struct DnnRule {
  enum Count { kOne, kMany };
  enum Need { kNeeded, kOptional };
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  Count count = kOne;
  Need need = kNeeded;
};
std::span<const DnnRule> dnn_rules(cudnnBackendDescriptorType_t type);
// Whether an attribute that is a descriptor may be this one.
bool may_be(cudnnBackendAttributeName_t name, const DnnObject& object);
// Checks that an object has all that it needs, before it is finalized.
cudnnStatus_t check_object(const DnnObject& object);

// Whether a plan can be executed so, both of them finalized.
cudnnStatus_t check_plan(const DnnObject& plan, const DnnObject& pack);
void execute_plan(const DnnObject& plan, const DnnObject& pack);

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_DNN_OBJECTS_H_
