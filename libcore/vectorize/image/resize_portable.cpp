#define DL_PASSES kPortablePasses
#include "libcore/vectorize/image/resize_passes.inc"
