// Arrays as ND4J writes them (Nd4j.write), of every version: a buffer of the
// shape, then one of the numbers, both big-endian.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_ND4J_ARRAY_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_ND4J_ARRAY_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libcore/tensor/shape.h"

namespace dl::convert::dl4j {

// The rest of a member of a file, read from its start. Each getter throws
// Error: kData, it ends within what is read.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size(); }
  std::span<const std::byte> take(std::size_t count);
  std::uint64_t integer(std::size_t bytes);  // big-endian
  double real();                             // of 64 bits
  bool flag();
  std::string text();  // as Java's writeUTF() has it; of plain characters

 private:
  std::span<const std::byte> bytes_;
};

struct Nd4jArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major, whatever the order of the file
};

// Numbers of any type become float32.  No memory is taken for more than the
// file has.
// Throws Error: kData, it is damaged, of texts, or compressed.
Nd4jArray read_nd4j_array(Bytes& bytes);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_ND4J_ARRAY_H_
