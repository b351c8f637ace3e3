// Convolution kernels for x86-64-v3; the Makefile compiles this file for that instruction set.
#if defined(__x86_64__)
#define FCAM_KERNELS conv_kernels_v3
#define FCAM_ISA_NAME "x86-64-v3"
#define FCAM_LANES 8
#define FCAM_VECTORS 2
#define FCAM_PIXELS 4
#include "fcam/nn/conv_kernels.inc"
#endif
