/* A unit that optimisation joins with privates2.c, which has a static function of
 * the same name: a fifth of the time is in this one's work, the rest in the other's. */
#include "privates.h"

volatile long sink;

static __attribute__((noinline)) void work(int n) {
	SPIN(10);
	sink -= n;
}

int main(void) {
	for (int i = 0; i < 30; i++) {
		work(i);
		work(i + 1);
		second(i);
	}
	return 0;
}
