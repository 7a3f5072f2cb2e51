#include "privates.h"

static __attribute__((noinline)) void work(int n) {
	SPIN(40);
	sink += n;
}

void second(int n) {
	work(n);
	work(n + 2);
}
