// Calls of all kinds: several callers, recursion, pointers, static functions of one name in
// two units, levels of inlined functions, leaves without a frame.
#include "truth.h"
#include "calls.h"

static volatile int none;

KEPT static void helper(void) { IN("helper"); TOUCH(2); OUT(); }

// Inlined in both units; each is its own.
static INLINED void step(void) { INTO("step"); TOUCH(3); OUT(); }
static INLINED void inner(int n)
{
	INTO("inner");
	TOUCH(n);
	CALL(step());
	OUT();
}
static INLINED void middle(int n)
{
	INTO("middle");
	CALL(inner(n));
	OUT();
}

KEPT void outer(void)
{
	IN("outer");
	CALL(middle(1));
	CALL(middle(4));
	TOUCH(1);
	OUT();
}

KEPT void shared_callee(void) { IN("shared_callee"); TOUCH(1); OUT(); }

KEPT static void left(void)
{
	IN("left");
	CALL(shared_callee());
	CALL(shared_callee());
	CALL(helper());
	OUT();
}

KEPT static void right(void)
{
	IN("right");
	CALL(shared_callee());
	CALL(outer());
	OUT();
}

KEPT int fact(int n)
{
	IN("fact");
	TOUCH(1);
	int result = n <= 1 ? 1 : n * CALL(fact(n - 1));
	OUT();
	return result;
}

KEPT void odd(int n);
KEPT void even(int n)
{
	IN("even");
	TOUCH(1);
	if (n > 0)
		CALL(odd(n - 1));
	OUT();
}
KEPT void odd(int n)
{
	IN("odd");
	TOUCH(2);
	if (n > 0)
		CALL(even(n - 1));
	OUT();
}

// Leaves: whoever follows frame pointers has to find the caller elsewhere.
KEPT void leaf(volatile char *p) { *p = 1; } enum { leafLine = __LINE__ };
KEPT static void calls_leaf(void)
{
	IN("calls_leaf");
	for (int i = 0; i < 3; i++)
		CALL(leaf(truth_leaf("leaf", __FILE__, leafLine, __LINE__)));
	OUT();
}

static void (*volatile pointers[])(void) = {left, right, calls_leaf};

#define TWICE(n) do { TOUCH(n); TOUCH(n); } while (0)

KEPT static void macros(void)
{
	IN("macros");
	TWICE(2);
	OUT();
}

#line 1000 "generated.y"
KEPT static void generated(void)
{
	IN("generated");
	TOUCH(3);
	OUT();
}
#line 104 "calls.c"

int main(void)
{
	truth_begin(0x20000000);
	IN("main");
	CALL(left());
	CALL(right());
	CALL(other_unit());
	CALL(fact(4));
	CALL(even(3));
	for (int i = 0; i < 3; i++)
		CALL(pointers[i]());
	CALL(macros());
	CALL(generated());
	TOUCH(5);
	truth_end();
	return none;
}
