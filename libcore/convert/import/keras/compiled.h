// The parts in which Keras writes how a model was compiled.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_COMPILED_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_COMPILED_H_

#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "libcore/convert/import/keras/model.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {

using Notes = std::set<std::string>;  // sentences for the user

// The first of these that is a number; whether it is true; an object, or one
// without members.
double number(const Json& config, std::initializer_list<const char*> keys,
              double fallback);
bool flag(const Json& config, const char* key);
const Json& object_in(const Json& json, const char* key);
// Class of "mse", {"class_name": "MeanSquaredError"}, or {"class_name":
// "function", "config": "mse"}; "" if there is none.
std::string class_of(const Json& json);

// Training objective of output i, which Keras calls `name`.
Aim aim_of(const Json& compiled, std::size_t i, const std::string& name,
           const Flow& value, const std::string& version, Notes& notes);

// A learning rate that changes; none where networks here have no such.
std::optional<Json> schedule_of(const Json& json);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_COMPILED_H_
