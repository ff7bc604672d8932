// A DataSet: examples as tensors that share their first dimension.
//
// Names: "features", "labels", "features_mask", "labels_mask"; a MultiDataSet
// has "features/NAME" and so on.  Class labels are stored as integers [n]
// (0..classes-1), regression targets as kF32 or kF64 [n, targets].  Masks are
// kF32 or kU8: [n] or [n, time].  Stored dtypes are kept: pixels stay kU8 until
// a Normalizer turns them into reals on the way into a network.  "id", kU8
// [n, width], text padded with NUL, and "index", kI64 [n], say where an example
// comes from and are none of its values.

#ifndef DL_LIBCORE_DATA_FORMAT_DATASET_H_
#define DL_LIBCORE_DATA_FORMAT_DATASET_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "libcore/data/format/encoded.h"
#include "libcore/tensor/tensor.h"

namespace dl::data {

// Largest unpacked record, and so the largest example.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;

struct DataSet {
  std::map<std::string, tensor::Tensor> tensors;
  // Stored form of some of them, where it is wanted: of records that are to be
  // written.
  std::map<std::string, Encoded> encoded;
  // Tensors that are windows of encoded "series", by name: they may be in
  // `tensors` as well, or be cut as they are copied.
  std::map<std::string, WindowView> views;

  std::int64_t examples() const;  // 0 if there are no tensors
  const tensor::Tensor* find(const std::string& name) const;  // or null
  // Throws Error: kData, there is no such tensor.
  const tensor::Tensor& get(const std::string& name) const;

  // Examples [begin, end), copied.
  DataSet slice(std::int64_t begin, std::int64_t end) const;
  // Throws Error: kData unless first dimensions agree, no extent is 0 and
  // there is at least one example.
  void check() const;
};

// Form of the examples that are read.
enum class Form {
  kDecoded,  // tensors of one shape, and a schema of these
  kStored    // beside them their stored form, to be written again
};

// Whether the tensor says which example it is: "id", "index".
bool names_example(const std::string& tensor);
// The text of id i in a tensor "id", without its padding.
std::string id_text(const tensor::Tensor& ids, std::int64_t i);

// Copies example `from` of `source` to place `to` of `target`, decoded. Tensors
// have the same names, dtypes and shapes but for the first dimension.
void copy_example(DataSet& target, std::int64_t to, const DataSet& source,
                  std::int64_t from);
// The same for all of `from`, to the places from `to` on.
void copy_examples(DataSet& target, std::int64_t to, const DataSet& source,
                   std::span<const std::uint32_t> from);

// An empty DataSet (zeros) of n examples shaped like those of `like`.
DataSet make_like(const DataSet& like, std::int64_t n);
// The same in the memory that `set` has; what it holds then is of no use.
void make_like(DataSet& set, const DataSet& like, std::int64_t n);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_DATASET_H_
