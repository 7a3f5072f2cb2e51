/* Calls what parts.c defines. */
#include <stdlib.h>
#define NI __attribute__((noinline))
long hot(int n);
void lookup(int n), called_one(int n), called_two(int n);
NI void driver(int n) { for (int i = 0; i < n; i++) hot(1001 | i); __asm__ volatile(""); }
NI void entered(int n) { lookup(n); __asm__ volatile(""); }
int main(int argc, char **argv) {
	int n = atoi(argv[1]);
	for (int i = 0; i < n; i++) { called_one(20000); called_two(20000); entered(20000); driver(3); }
	return 0;
}
