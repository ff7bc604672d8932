// Records of examples, one after the other, with what is known of them: of a
// DataSet stream, or made of raw data on the way.

#ifndef DL_LIBCORE_DATA_EXAMPLES_H_
#define DL_LIBCORE_DATA_EXAMPLES_H_

#include <string>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

class Examples {
 public:
  virtual ~Examples() = default;

  // Where they come from, for messages.
  virtual const std::string& name() const = 0;
  // As far as it is known; complete when read() returned false.
  virtual const Metadata& metadata() const = 0;
  // The next record; false at the end.  Throws Error: kData, kIo.
  virtual bool read(DataSet& set) = 0;
  // Whether read() gives something without waiting for others.
  virtual bool ready() const { return true; }
  // As io::Source::stop_at().
  virtual void stop_at(int stop) { static_cast<void>(stop); }
  // Checks that the source closes well.
  virtual void close() {}
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_EXAMPLES_H_
