// The classes of Keras that are imported, and the reasons why others are not.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_CLASSES_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_CLASSES_H_

#include <string>

namespace dl::convert::keras {

// All of them, as dl-import(1) has it, in scdoc's format.
std::string classes_page();

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_CLASSES_H_
