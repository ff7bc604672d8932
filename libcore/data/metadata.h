// What a DataSet stream says about itself, dl-dataset(5).

#ifndef DL_LIBCORE_DATA_METADATA_H_
#define DL_LIBCORE_DATA_METADATA_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/dataset.h"
#include "libcore/data/statistics.h"

namespace dl::data {

struct Field {
  tensor::DType dtype = tensor::DType::kF32;
  tensor::Shape shape;  // of one example
  bool operator==(const Field&) const = default;
};

// One step that made the data: tool, version, arguments, seed.
struct Provenance {
  std::string tool, version;
  std::vector<std::string> arguments;
  std::optional<std::uint64_t> seed;
};

struct Metadata {
  std::map<std::string, Field> schema;  // by tensor name
  std::vector<std::string> classes;  // of "labels"; empty: regression or none
  std::vector<std::string> columns;  // names of feature columns, or empty
  std::vector<std::string> targets;  // names of label columns, or empty
  std::optional<Statistics> statistics;  // of "features"
  std::vector<Provenance> provenance;

  // The schema that `set` has.
  static std::map<std::string, Field> schema_of(const DataSet& set);

  // Takes over what a later metadata record says.
  // Throws Error: kData, schema, classes or columns contradict.
  void update(const Metadata& later);
  // Throws Error: kData unless `set` has exactly the schema's tensors.
  void check(const DataSet& set) const;

  std::map<std::string, std::string> to_strings() const;
  static Metadata from_strings(const std::map<std::string, std::string>& text);
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_METADATA_H_
