#include "truth.h"

KEPT static void helper(void) { IN("helper"); TOUCH(4); OUT(); }
static INLINED void step(void) { INTO("step"); TOUCH(1); OUT(); }

KEPT void plugin_run(void (*back)(void))
{
	IN("plugin_run");
	CALL(helper());
	CALL(step());
	CALL(back());
	OUT();
}
