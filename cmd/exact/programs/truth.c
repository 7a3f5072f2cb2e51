#define _GNU_SOURCE
#include "truth.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { logSize = 1 << 20, regionSize = 1 << 26, maxDepth = 128 };

struct level {
	char kind;
	const char *function, *file;
	int line;
};
static __thread struct level levels[maxDepth];
static __thread int depth;

// In memory that forked processes share.
static struct shared {
	int lock;
	unsigned long page;
	size_t length;
	char text[logSize];
} *shared;
static int out;

void truth_begin(unsigned long base)
{
	out = open(getenv("TRUTH"), O_WRONLY | O_CREAT | O_APPEND, 0666);
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	// Whatever is mapped now faults now, not among the touches.
	mlockall(MCL_CURRENT);
	munlockall();
	mmap((void *)base, regionSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	madvise((void *)base, regionSize, MADV_NOHUGEPAGE);
	shared->page = base;
}

void truth_end(void)
{
	write(out, shared->text, shared->length);
}

void truth_enter(char kind, const char *function, const char *file)
{
	levels[depth++] = (struct level){kind, function, file, 0};
}

void truth_line(int line) { levels[depth - 1].line = line; }

void truth_leave(void) { depth--; }

int truth_depth(void) { return depth; }

void truth_return(int d) { depth = d; }

static char *put(char *to, const char *text)
{
	size_t n = strlen(text);
	memcpy(to, text, n);
	return to + n;
}

static char *number(char *to, unsigned long n)
{
	char digits[24], *d = digits + sizeof digits;
	do
		*--d = '0' + n % 10;
	while (n /= 10);
	memcpy(to, d, digits + sizeof digits - d);
	return to + (digits + sizeof digits - d);
}

// Without printf, which touches pages of its own.
volatile char *truth_page(int line)
{
	truth_line(line);
	while (__atomic_exchange_n(&shared->lock, 1, __ATOMIC_ACQUIRE))
		;
	unsigned long page = shared->page;
	shared->page += 4096;
	char *to = shared->text + shared->length;
	to = number(to, page);
	to = number(put(to, "\t"), getpid());
	to = number(put(to, "\t"), syscall(SYS_gettid));
	for (int i = 0; i < depth; i++) {
		to = put(to, "\t");
		*to++ = levels[i].kind;
		to = put(put(to, "|"), levels[i].function);
		to = put(put(to, "|"), levels[i].file);
		to = number(put(to, "|"), levels[i].line);
	}
	to = put(to, "\n");
	shared->length = to - shared->text;
	__atomic_store_n(&shared->lock, 0, __ATOMIC_RELEASE);
	return (volatile char *)page;
}

volatile char *truth_leaf(const char *function, const char *file, int line, int call)
{
	truth_line(call);
	truth_enter('c', function, file);
	volatile char *page = truth_page(line);
	truth_leave();
	return page;
}
