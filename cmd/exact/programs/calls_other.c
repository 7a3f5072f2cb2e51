#include "truth.h"
#include "calls.h"

KEPT static void helper(void) { IN("helper"); TOUCH(5); OUT(); }

static INLINED void step(void) { INTO("step"); TOUCH(7); OUT(); }

KEPT void other_unit(void)
{
	IN("other_unit");
	CALL(helper());
	CALL(step());
	OUT();
}
