#define _GNU_SOURCE
#include "truth.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Aligned, so that no page of the program's data has a part of it. */
OWN static struct row { uintptr_t address; size_t size; const char *descriptor, *scope, *function; size_t n, stride; } rows[20000];
OWN static struct { size_t told, taken; char *arena, rest[PAGE - 24]; } own;
#define told own.told
#define taken own.taken
#define arena own.arena

static void add(const volatile void *address, size_t size, const char *descriptor, const char *scope, const char *function, size_t n, size_t stride)
{
	if (told == sizeof rows / sizeof *rows)
		abort();
	rows[told++] = (struct row){(uintptr_t)address, size, descriptor, scope, function, n, stride};
}

void truth_scope(const volatile void *address, size_t size, const char *descriptor, const char *scope) { add(address, size, descriptor, scope, "", 1, 0); }

void truth(const volatile void *address, size_t size, const char *descriptor) { truth_scope(address, size, descriptor, ""); }

void truth_each(const volatile void *address, size_t size, const char *descriptor, size_t n, size_t stride)
{
	add(address, size, descriptor, "", "", n, stride);
}

void truth_in(const volatile void *address, size_t size, const char *descriptor, const char *function)
{
	add(address, size, descriptor, "", function, 1, 0);
}

void tell(void)
{
	for (size_t i = 0; i < told; i++)
		printf("%lx\t%zu\t%zu\t%zu\t%s\t%s\t%s\n", (unsigned long)rows[i].address, rows[i].size, rows[i].n, rows[i].stride,
			rows[i].descriptor, rows[i].scope, rows[i].function);
}

/* The kernel maps 64 KiB of shared memory when one page of it is read, so the
   boundaries are that far apart. */
#define APART 65536
#define SLOTS 2048

__attribute__((constructor)) static void prepare(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	size_t size = (size_t)(SLOTS + 2) * APART;
	arena = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		abort();
	arena += APART - (uintptr_t)arena % APART;
	memset(rows, 1, sizeof rows); /* so that it is not fresh */
}

void *slot(size_t size, size_t align)
{
	if (taken == SLOTS || size > APART / 2)
		abort();
	size_t before = taken * 5 % (size / align) * align;
	return arena + ++taken * APART - before;
}

void forget(void) { madvise(arena, (size_t)SLOTS * APART, MADV_DONTNEED); }

void blank(volatile void *address, size_t size)
{
	uintptr_t start = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
	if (madvise((void *)start, (uintptr_t)address + size - start, MADV_DONTNEED) != 0)
		abort();
}

void inner(volatile void *address, size_t size)
{
	uintptr_t start = ((uintptr_t)address + PAGE - 1) & ~(uintptr_t)(PAGE - 1), end = ((uintptr_t)address + size) & ~(uintptr_t)(PAGE - 1);
	if (start < end)
		blank((void *)start, end - start);
}
