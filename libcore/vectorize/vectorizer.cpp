#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

#define DL_VECTORIZER(name) extern const VectorizerType name##_vectorizer;
#include "libcore/vectorize/vectorizers.inc"
#undef DL_VECTORIZER

std::span<const VectorizerType* const> vectorizer_types() {
  static constexpr const VectorizerType* kTypes[] = {
#define DL_VECTORIZER(name) &name##_vectorizer,
#include "libcore/vectorize/vectorizers.inc"
#undef DL_VECTORIZER
  };
  return kTypes;
}

const VectorizerType* find_vectorizer(std::string_view name) {
  for (const VectorizerType* type : vectorizer_types())
    if (type->name == name) return type;
  return nullptr;
}

}  // namespace dl::vectorize
