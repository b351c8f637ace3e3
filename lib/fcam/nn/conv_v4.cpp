// Convolution kernels for x86-64-v4; the Makefile compiles this file for that instruction set.
#if defined(__x86_64__)
#define FCAM_KERNELS conv_kernels_v4
#define FCAM_ISA_NAME "x86-64-v4"
#define FCAM_LANES 16
#define FCAM_VECTORS 2
#define FCAM_PIXELS 8
#include "fcam/nn/conv_kernels.inc"
#endif
