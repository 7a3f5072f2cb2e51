#include "shared.h"
void second(void);
static KEPT void helper(int n) { TOUCH(n); }
static INLINED void step(int n) { TOUCH(n); }
static INLINED void outer(int n)
{
#ifndef __clang__
	__attribute__((always_inline)) inline void inner(int m) { TOUCH(m); }
	inner(n);
#endif
	TOUCH(3);
}
static KEPT void call(void (*volatile f)(int), int n) { f(n); }
int main(void)
{
	PREPARE();
	helper(5);
	step(6);
	outer(7);
	both(8);
	call(both, 9);
	header(10);
	second();
	return 0;
}
