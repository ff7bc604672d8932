// Options of the user on an imported model, beyond its file, and the file's
// words on training, for the user.

#ifndef DL_LIBCORE_CONVERT_IMPORT_SUPPLEMENT_H_
#define DL_LIBCORE_CONVERT_IMPORT_SUPPLEMENT_H_

#include <string>

#include "libcore/convert/import/import.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

// Gives the model's only output the names of its classes, "cat,dog,emu", in the
// order of its numbers.
// Throws Error: kUsage, it has as many outputs or numbers as do not fit, or two
// classes have one name.
void name_classes(nn::Model& model, const std::string& names);

// Gives the model's only input, which was normalized outside of it, a
// normalizer: "scale" makes 0..255 0..1, "signed" -1..1.
// Throws Error: kUsage, no such kind; it has one already, several inputs, or
// one of token numbers.
void normalize_bytes(nn::Model& model, const std::string& kind);

// "negative_log_likelihood, adam with learning rate 0.001": what the network is
// trained with when nothing else is said.
std::string training_of(const Imported& imported);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_SUPPLEMENT_H_
