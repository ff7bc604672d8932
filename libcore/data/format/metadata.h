// The metadata of a DataSet stream, dl-dataset(5).

#ifndef DL_LIBCORE_DATA_FORMAT_METADATA_H_
#define DL_LIBCORE_DATA_FORMAT_METADATA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/statistics/statistics.h"

namespace dl::data {

// Version of the format. Readers refuse a higher major version.
constexpr int kMajorVersion = 1;

struct Field {
  tensor::DType dtype = tensor::DType::kF32;
  tensor::Shape shape;  // of one example, once it is decoded
  Encoding encoding = Encoding::kNone;
  Window window = {};  // of a tensor that is one
  bool operator==(const Field&) const = default;
};

// One step that made the data: tool, version, arguments, seed, and a digest of
// what is known of its input files, or ""; of training, the sets of vector
// instructions that workers computed with.
struct Provenance {
  std::string tool, version;
  std::vector<std::string> arguments;
  std::optional<std::uint64_t> seed = std::nullopt;
  std::string inputs = {};
  std::vector<std::string> instructions = {};
  bool operator==(const Provenance&) const = default;
};

// Place of a shard in its set: of all that one run of dl-shard wrote.
struct SetPlace {
  std::string id;    // follows from the contents and the options
  std::string part;  // of --split, or empty
  std::int64_t shard = 0, of = 1;
  bool operator==(const SetPlace&) const = default;
};

Json schema_to_json(const std::map<std::string, Field>& schema);
// Throws Error: kData, a field is none that a tensor of its name may have.
std::map<std::string, Field> schema_from_json(const JsonView& json);

Json to_json(const std::vector<Provenance>& steps);
std::vector<Provenance> provenance_from_json(const JsonView& json);

struct Sides;  // contradiction.h

// Description of the tensors with one name: of "features" and "labels", or, in
// a MultiDataSet, of "features/left" and "labels/left".
struct About {
  std::vector<std::string> classes;      // of labels; empty: regression or none
  std::vector<std::string> columns;      // names of feature columns, or empty
  std::vector<std::string> targets;      // names of label columns, or empty
  std::optional<Statistics> statistics;  // of features
  std::optional<Statistics> label_statistics;  // of labels, if no classes
  bool empty() const;
};

struct Metadata : About {
  std::map<std::string, Field> schema;  // by tensor name
  std::map<std::string, About> parts;   // of a MultiDataSet, by name
  std::vector<Provenance> provenance;
  std::optional<SetPlace> place;  // of a shard; what several make up has none
  Json recipe;  // how examples are made of raw data, dl-recipe(5); or null

  // The names of a MultiDataSet's tensors: "left" of "features/left".
  std::set<std::string> names() const;
  // Metadata of the tensors of that name ("": of those without), as of a
  // DataSet of its own: schema and About alone.
  Metadata part(const std::string& name) const;

  // Minor version of the format that a stream with this schema has.
  int minor_version() const;
  // The same of decoded examples.
  Metadata decoded() const;

  // The schema that `set` has.
  static std::map<std::string, Field> schema_of(const DataSet& set);

  // Takes over what a later metadata record says.
  // Throws Error: kData, schema, classes or columns contradict; two classes
  // have one name, or there are not as many names as columns.
  void update(const Metadata& later);
  // Takes over what another, concatenated stream says: statistics as
  // Statistics::join() does, provenance is joined.
  // Throws Error: kData, as update(); it says what differs, and calls the two
  // by these names, or "a later stream" and "an earlier one".
  void join(const Metadata& next);
  void join(const Metadata& next, const Sides& names);
  // Throws Error: kData unless `set` has exactly the schema's tensors, decoded,
  // and integer labels below the number of classes.  An encoded one may be in
  // set.encoded alone.
  void check(const DataSet& set) const;

  // The __metadata__ of a record, dl-dataset(5): JSON texts by key.
  std::map<std::string, std::string> to_strings() const;
  // Throws Error: kData, no metadata of a DataSet stream, or of a later major
  // version.  Unknown keys are passed over.
  static Metadata from_strings(const std::map<std::string, std::string>& text);

 private:
  void check_plain(const DataSet& set,
                   const std::map<std::string, Field>& plain) const;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_METADATA_H_
