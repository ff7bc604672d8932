// Data brought into the order of what they are to go with: columns of features,
// classes and columns of labels, each matched by its name.
//
// Names that one of the two does not have say nothing: then all stays as it is.

#ifndef DL_LIBCORE_DATA_ALIGNMENT_H_
#define DL_LIBCORE_DATA_ALIGNMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

// Order of the tensors with one name, as in About.
struct Order {
  // Where each wanted column lies among those of the data, which may have more
  // of them; empty: they are as wanted.
  std::vector<std::int64_t> columns;
  // The same for the last dimension of labels that are rows.
  std::vector<std::int64_t> targets;
  // The wanted number of each class of the data; empty: it is its own.  For
  // labels that are numbers.
  std::vector<std::int64_t> classes;

  bool changes_nothing() const {
    return columns.empty() && targets.empty() && classes.empty();
  }
};

struct Alignment : Order {
  std::map<std::string, Order> parts;  // of a MultiDataSet: what changes
  // Warning about everything that was put right; "": nothing.
  std::string note;

  bool changes_nothing() const {
    return Order::changes_nothing() && parts.empty();
  }
  // Whether labels become the same.
  bool orders_labels_as(const Alignment& other) const;

  // Tensors that an example has not are passed over.
  // Throws Error: kData, `set` is not as the data that it was made for.
  void apply(DataSet& set) const;
  // The metadata of data after the alignment; wanted: what they go with.
  Metadata apply(Metadata metadata, const Metadata& wanted) const;

  Json to_json() const;  // without the note; null if it changes nothing
  static Alignment from_json(const JsonView& json);
};

// The knowledge about the tensors that are called `part` ("": those without a
// name); nothing about others.
const About& about(const Metadata& metadata, const std::string& part);

// Adds to notes, which stand with semicolons between; "" is none.
void add_note(std::string& all, const std::string& note);

// How `data` go with `wanted`.
// Throws Error: kData, they do not: a column is missing, a class or a column of
// labels is not known.  labels: whether labels matter.
Alignment align(const Metadata& data, const Metadata& wanted, bool labels);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_ALIGNMENT_H_
