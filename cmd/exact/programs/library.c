#include "truth.h"
#include "linked.h"

KEPT static void helper(void) { IN("helper"); TOUCH(3); OUT(); }
static INLINED void step(void) { INTO("step"); TOUCH(2); OUT(); }

KEPT void replaced(void) { IN("never"); TOUCH(7); OUT(); }

KEPT void library_call(void (*back)(void))
{
	IN("library_call");
	CALL(helper());
	CALL(back());
	CALL(replaced()); // the program's
	OUT();
}

KEPT void library_inline(void)
{
	IN("library_inline");
	CALL(step());
	OUT();
}
