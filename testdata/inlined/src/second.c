#include "shared.h"
static INLINED void helper(int n) { TOUCH(n); }
static INLINED void step(int n) { TOUCH(n); }
void second(void)
{
	TOUCH(4);
	helper(20);
	step(21);
	header(22);
}
