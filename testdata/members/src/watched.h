/* A program's objects lie where hardware breakpoints watch: 32 bytes from WATCHED
   on. What a function accesses there is one member, which its name tells. */
#define _GNU_SOURCE
#include "../../data/src/truth.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES 32
#ifdef OF_VARIABLE
/* `watched` is a name for a place in the variable, of which debug information tells nothing. */
static inline char *place(void) { char *p; __asm__("movl $watched, %k0" : "=r"(p)); return p; }
#define WATCHED place()
#else
#define WATCHED ((char *)0x20000100)
#endif
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, noipa))
#endif

/* What the function reads or writes of the watched bytes is this object. */
#define ONLY(function, descriptor) truth_in(WATCHED, BYTES, descriptor, #function)

#ifndef OF_VARIABLE
/* Maps memory at WATCHED, which has no variable. */
static inline void watch(void)
{
	char *page = WATCHED - (uintptr_t)WATCHED % PAGE;
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page)
		abort();
}
#endif

static volatile long sink;
