/* Parts of functions that the compiler put elsewhere: jumped to or called. */
#include <stdlib.h>
#define NI __attribute__((noinline))
volatile long sink;
long *cache;

static NI void spin(int n) { for (int i = 0; i < n; i++) sink += i; }

/* gcc's partial inlining: the test is inlined into the callers here, which call
   lookup.part.0; lookup itself, called from the other unit, jumps there. */
void lookup(int n) {
	if (__builtin_expect(cache != 0, 0))
		return;
	for (int i = 0; i < n; i++) { sink += i; sink ^= n; }
	for (int i = 0; i < n; i += 3) { sink -= i; sink |= n; if (sink & 4) sink += 2; }
	spin(n);
	for (int i = 0; i < n; i += 5) { sink -= 2 * i; sink &= ~n; if (sink & 8) sink += 3; spin(3); }
}
NI void called_one(int n) { lookup(n); sink++; lookup(n + 1); sink++; }
NI void called_two(int n) { lookup(2 * n); sink--; }

/* A cold part: clang splits it off and calls it, gcc jumps to it. */
__attribute__((cold, noinline)) void fail(int n) { spin(n); sink--; }
long hot(int n) {
	sink++;
	if (__builtin_expect(n & 1, 0)) {
		for (int i = 0; i < 4 * n; i++) { sink += i; sink ^= i; if (sink & 2048) fail(3); }
		sink -= 3; fail(n); sink += n;
	}
	return sink;
}
