/* An access to protected memory is a page fault, which perf records. The signal's
   handler takes the protection away for one instruction. */
#define _GNU_SOURCE
#include "guard.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STEP = 0x100 }; /* the processor's flag to stop after each instruction */

void guard(int on) { mprotect(GUARDED, GUARDED_SIZE, on ? PROT_NONE : PROT_READ | PROT_WRITE); }

static void fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	if ((char *)info->si_addr < GUARDED || (char *)info->si_addr >= GUARDED + GUARDED_SIZE)
		abort();
	guard(0);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= STEP;
}

static void step(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	guard(1);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~STEP;
}

void guard_start(void)
{
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction on_fault = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction on_step = {.sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	if (mmap(GUARDED, GUARDED_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != GUARDED ||
	    sigaltstack(&other, 0) != 0 || sigaction(SIGSEGV, &on_fault, 0) != 0 || sigaction(SIGTRAP, &on_step, 0) != 0)
		abort();
	memset(GUARDED, 1, GUARDED_SIZE);
	memset(GUARDED, 0, GUARDED_SIZE);
}
