// Convolution kernels for processors other than x86-64, with vectors of four floats.
#if !defined(__x86_64__)
#define FCAM_KERNELS conv_kernels_portable
#define FCAM_ISA_NAME "portable"
#define FCAM_LANES 4
#define FCAM_VECTORS 4
#define FCAM_PIXELS 4
#include "fcam/nn/conv_kernels.inc"
#endif
