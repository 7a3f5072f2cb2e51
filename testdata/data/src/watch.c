/* Members that a hardware breakpoint watches: bit fields, members of unions, a
   counter that everything changes, one of a list. The watched objects lie at
   addresses that are known before: `watched`, and HEAP. */
#define _GNU_SOURCE
#include "truth.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP ((char *)0x20000000)
#define APART __attribute__((noinline, noclone, noipa))

struct flags { unsigned ready : 1, mode : 4, level : 11, rest : 16; };
struct item {
	struct item *next;
	long hits;
	union { int number; float ratio; struct { short low, high; } half; } as;
	struct flags flags;
	int (*handler)(struct item *, int);
	char text[16];
	double weight[2];
};
struct flags watched __attribute__((aligned(8)));
static struct item *list;

#define I "{structure:item}."
#define BITS(type, name, f) truth_in(&watched, 4, "{structure:flags}.{unsigned_int:" type " " name "}", f)
#define HITS(f) truth_in(&list->hits, 8, I "{long hits}", f)
#define AS(what, f) truth_in(&list->as, 4, I "{union:as}." what, f)

APART void set_ready(void) { watched.ready = 1; }
APART void set_mode(int n) { watched.mode = n; }
APART void set_level(int n) { watched.level = n; }
APART void set_rest(int n) { watched.rest = n; }
APART int get_rest(void) { return watched.rest; }
APART int get_level(void) { return watched.level; }

APART void hit(struct item *i) { i->hits++; }
APART void hit_by(struct item *i, long n) { i->hits += n; }
APART long hits_of(const struct item *i) { return i->hits; }
APART void reset(struct item *i) { i->hits = 0; }
APART void locked(struct item *i) { __atomic_fetch_add(&i->hits, 2, __ATOMIC_SEQ_CST); }
APART long exchanged(struct item *i) { return __atomic_exchange_n(&i->hits, 5, __ATOMIC_SEQ_CST); }
APART int compared(struct item *i)
{
	long old = 5;
	return __atomic_compare_exchange_n(&i->hits, &old, 6, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static inline struct item *nth(int n)
{
	struct item *i = list;
	while (n-- > 0)
		i = i->next;
	return i;
}
APART void inlined_hit(int n) { nth(n)->hits *= 3; }
APART struct item *found(int n) { return nth(n); }
APART long of_found(int n) { return found(n)->hits - found(n + 1)->hits; }
APART long loop(struct item *i, int n)
{
	long sum = 0;
	for (; n > 0; n--) {
		i->hits += n;
		if (n % 3)
			sum += i->hits;
		__asm__ volatile("" ::: "memory");
	}
	return sum;
}
APART int branch(struct item *i) { return i->hits > 7 ? 1 : -(int)i->hits; }
APART void copy(struct item *to, const struct item *from) { *to = *from; }
APART void store_long(long *p) { *p = 9; }

APART void number(struct item *i, int n) { i->as.number = n; }
APART void ratio(struct item *i, float x) { i->as.ratio = x; }
APART void half(struct item *i, short n) { i->as.half.low = n; }
APART float ratio_of(const struct item *i) { return i->as.ratio * 2; }

APART int handle(struct item *i, int n) { return n + (i != 0); }
APART int call(struct item *i, int n) { return i->handler(i, n) + 1; }
APART int jump(struct item *i, int n) { return i->handler(i, n); }
APART void install(struct item *i) { i->handler = handle; }

int main(int argc, char **argv)
{
	char *heap = mmap(HEAP, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (heap != HEAP)
		abort();
	list = (struct item *)heap;
	for (int i = 0; i < 5; i++)
		list[i].next = &list[i + 1];
	/* of several bit fields in the bytes of one access it is the first */
	BITS("1", "ready", "set_ready"); BITS("*", "*", "set_mode"); BITS("*", "*", "set_level"); BITS("*", "*", "get_level");
	BITS("16", "rest", "set_rest"); BITS("16", "rest", "get_rest");
	const char *all[] = {"hit", "hit_by", "hits_of", "reset", "locked", "exchanged", "compared", "inlined_hit", "of_found", "loop", "branch", "copy"};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		HITS(all[i]);
	truth_in(&list->hits, 8, I "{long hits} | {long -}", "store_long");
	AS("{int number}", "number"); AS("{float ratio}", "ratio"); AS("{structure:half}.{short low}", "half"); AS("{float ratio}", "ratio_of");
	AS("*", "copy");
	const char *handlers[] = {"call", "jump", "install", "copy"};
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
		truth_in(&list->handler, 8, I "{pointer+function handler}", handlers[i]);

	/* it stands in the program counter that the call is done */
	truth_in(&list->handler, 8, I "{pointer+function handler} | Backtracking *", "handle");
	/* one instruction copies it with the next member */
	truth_in(&list->next, 8, I "{pointer+structure:item next}", "copy");

	long sum = 0;
	for (int i = 0; i < 12; i++) {
		set_ready(); set_mode(i); set_level(i); set_rest(i); sum += get_rest() + get_level();
		hit(list); hit_by(list, i); sum += hits_of(list); reset(list); locked(list); sum += exchanged(list); sum += compared(list);
		inlined_hit(0); sum += of_found(0); sum += loop(list, 5); sum += branch(list); copy(list + 3, list); store_long(&list->hits);
		number(list, i); half(list, i); ratio(list, 2.5f); sum += (long)ratio_of(list);
		install(list); sum += call(list, i) + jump(list, i);
	}
	tell();
	return sum == 1;
}
