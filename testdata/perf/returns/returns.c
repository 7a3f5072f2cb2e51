// Functions with frames, of which only the machine code tells: samples at their
// return instructions find the frame pointer of the caller.
#include <stdlib.h>
volatile long sum;
__attribute__((noinline)) void leaf(long n) { sum += n; }
__attribute__((noinline)) void middle(long n) { leaf(n); leaf(n + 1); sum--; }
__attribute__((noinline)) void outer(long n) { for (long i = 0; i < n; i++) { middle(i); sum ^= i; } sum++; }
int main(int argc, char **argv) { outer(atol(argv[argc - 1])); return 0; }
