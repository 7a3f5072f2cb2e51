__attribute__((noipa)) long in_library(long n) { long i = n; do __asm__ volatile("" : "+r"(i)); while (--i > 0); return i; }
