#ifdef __x86_64__
#define DL_PASSES kAvx2Passes
#include "libcore/vectorize/image/resize_passes.inc"
#endif
