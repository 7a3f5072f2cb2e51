// TOUCH writes to a page that nothing has touched: a page fault, whose PC is in the function
// that the macro is in. The next page's address is at CURSOR.
#include <sys/mman.h>
#define CURSOR 0x10000000ul
#define PAGES 0x20000000ul
#define TOUCH(n) \
	do { \
		for (int i_ = 0; i_ < (n); i_++) \
			__asm__ volatile("movq 0x10000000, %%rax\n\tmovb $1, (%%rax)\n\taddq $4096, 0x10000000" ::: "memory", "cc", "rax"); \
	} while (0)
#define PREPARE() \
	do { \
		mmap((void *)CURSOR, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); \
		mmap((void *)PAGES, 1ul << 29, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0); \
		madvise((void *)PAGES, 1ul << 29, MADV_NOHUGEPAGE); \
		*(volatile unsigned long *)CURSOR = PAGES; \
	} while (0)
#define INLINED __attribute__((always_inline)) inline
#define KEPT __attribute__((noinline, noclone))
