// Ways to get to a function that are not a plain call and return.
#define _GNU_SOURCE
#include "truth.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

static volatile int one = 1;
static volatile int sink;

// Tail calls: at -O2 the callers' frames are gone (S26).
KEPT int last(int n)
{
	IN("last");
	TOUCH(2);
	OUT();
	return n;
}
#if defined(__OPTIMIZE__)
#define JUMPS 1
#endif
KEPT int passes_on(int n)
{
	IN("passes_on");
	TOUCH(1);
#ifdef JUMPS
	OUT();
	return last(n + 1);
#else
	int r = CALL(last(n + 1));
	OUT();
	return r;
#endif
}
KEPT static int jumper(int n)
{
	IN("jumper");
	int r = CALL(passes_on(n)) + 1;
	r += CALL(passes_on(n)) + 1;
	OUT();
	return r;
}

// A part that is rarely run: gcc cuts it out of the function.
__attribute__((cold)) KEPT static void rare(void)
{
	IN("rare");
	TOUCH(1);
	OUT();
}
KEPT static int mostly(int n)
{
	IN("mostly");
	TOUCH(1);
	if (__builtin_expect(n > 5, 0)) {
		CALL(rare());
		TOUCH(2);
		sink = n;
	}
	OUT();
	return n;
}

// Jumps over frames.
static jmp_buf back;
KEPT static void jumps(int n)
{
	IN("jumps");
	TOUCH(1);
	if (n == 0)
		longjmp(back, 1);
	CALL(jumps(n - 1));
	OUT();
}
KEPT static void returns_twice(void)
{
	IN("returns_twice");
	int depth = truth_depth();
	if (!setjmp(back))
		CALL(jumps(2));
	truth_return(depth);
	TOUCH(2);
	OUT();
}

// Called by the C library.
KEPT static int compare(const void *a, const void *b)
{
	IN("compare");
	TOUCH(1);
	OUT();
	return *(const int *)a - *(const int *)b;
}
KEPT static void sorts(void)
{
	int list[] = {2, 1, 3};
	IN("sorts");
	THEIRS(qsort(list, 3, sizeof *list, compare));
	TOUCH(1);
	OUT();
}

// Signals, also on a stack of their own.
KEPT static void handled(void)
{
	IN("handled");
	TOUCH(1);
	OUT();
}
static void handler(int s)
{
	truth_enter('?', "", ""); // a dump of a stack has one stack only
	IN("handler");
	TOUCH(1);
	CALL(handled());
	OUT();
	OUT();
}
KEPT static void raises(void)
{
	IN("raises");
	THEIRS(raise(SIGUSR1));
	TOUCH(1);
	OUT();
}
KEPT static void traps(void)
{
	IN("traps");
	truth_line(__LINE__ + 1);
	__asm__ volatile("ud2" ::: "memory");
	TOUCH(1);
	OUT();
}
static void skips(int s, siginfo_t *i, void *c)
{
	truth_enter('*', "", "");
	IN("skips");
	TOUCH(1);
	((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] += 2;
	OUT();
	OUT();
}

// A stack of its own, which nothing called.
static ucontext_t here, there;
static void fiber(void)
{
	truth_enter('r', "", "");
	IN("fiber");
	TOUCH(2);
	CALL(handled());
	OUT();
	OUT();
	swapcontext(&there, &here);
}
KEPT static void switches(void)
{
	IN("switches");
	getcontext(&there);
	there.uc_stack.ss_sp = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	there.uc_stack.ss_size = 65536;
	makecontext(&there, fiber, 0);
	swapcontext(&here, &there);
	TOUCH(1);
	OUT();
}

#ifndef __clang__
KEPT static int host(int n)
{
	__attribute__((noinline, noclone, noipa)) int nested(int m)
	{
		IN("host::nested");
		TOUCH(1);
		OUT();
		return m + n;
	}
	IN("host");
	int r = CALL(nested(one));
	OUT();
	return r;
}
#endif

// Big frames, of unknown size, and aligned ones.
KEPT static void aligned(int n)
{
	__attribute__((aligned(64))) volatile char a[64];
	volatile char *b = __builtin_alloca(n);
	IN("aligned");
	a[n & 7] = b[0] = 1;
	TOUCH(1);
	CALL(handled());
	OUT();
}

int main(void)
{
	static char stack[65536];
	truth_begin(0x20000000);
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&other, 0);
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &a, 0);
	struct sigaction b = {.sa_sigaction = skips, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &b, 0);
	IN("main");
	CALL(jumper(one));
	CALL(mostly(one));
	CALL(mostly(10 * one));
	CALL(returns_twice());
	CALL(sorts());
	CALL(raises());
	CALL(traps());
	CALL(switches());
#ifndef __clang__
	CALL(host(one));
#endif
	CALL(aligned(100 * one));
	TOUCH(1);
	truth_end();
	return 0;
}
