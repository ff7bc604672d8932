// Arithmetic on the values of a model.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_ARITHMETIC_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_ARITHMETIC_H_

#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {

// factor x + amount
Flow linear(Site& site, Flow flow, double factor, double amount);
// 1 / x
Flow reciprocal(Site& site, const Flow& value);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_ARITHMETIC_H_
