/* Members of variables that the code names. */
#define OF_VARIABLE
#include "watched.h"
#include <stdbool.h>

struct row { unsigned used : 1, kind : 5, length : 18; char tag[4]; union { int number; float ratio; struct { short low, high; }; }; bool dirty : 1, locked : 1; struct { short x, y; } at; long (*handler)(long); };
static struct row table[5] __attribute__((aligned(64)));
__asm__(".globl watched\n.set watched, table + 64");
#define R "{structure:row}."
#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)
#define ONE(line, m, d, x) \
	APART void NAMED(set_, line)(int v) { table[2].m = v; } \
	APART void NAMED(fix_, line)(void) { table[2].m = x; } \
	APART long NAMED(get_, line)(void) { return (long)table[2].m; } \
	APART void NAMED(add_, line)(void) { table[2].m++; } \
	APART void NAMED(nth_, line)(int i) { table[i].m = x; } \
	APART int NAMED(is_, line)(int i) { return table[i].m == x ? 3 : 5; } \
	static void NAMED(run_, line)(void) \
	{ \
		static const char *const functions[] = {"set_" #line, "fix_" #line, "get_" #line, "add_" #line, "nth_" #line, "is_" #line}; \
		for (int i = 0; i < 6; i++) truth_in(WATCHED, BYTES, R d, functions[i]); \
		NAMED(set_, line)(1); NAMED(fix_, line)(); sink += NAMED(get_, line)(); NAMED(add_, line)(); NAMED(nth_, line)(2); sink += NAMED(is_, line)(2); \
	}
ONE(used, used, "{unsigned_int:1 used}", 1)
ONE(kind, kind, "{unsigned_int:5 kind}", 19)
ONE(length, length, "{unsigned_int:18 length}", 70000)
ONE(tag, tag[1], "{array[4]:char tag}", 'x')
ONE(number, number, "{union:-}.{int number}", 99)
ONE(ratio, ratio, "{union:-}.{float ratio}", 2.5f)
ONE(high, high, "{union:-}.{structure:-}.{short high}", 77)
ONE(dirty, dirty, "{_Bool:1 dirty}", 1)
ONE(locked, locked, "{_Bool:1 locked}", 1)
ONE(x, at.x, "{structure:at}.{short x}", 5)
ONE(y, at.y, "{structure:at}.{short y}", 6)

static long twice(long n) { return 2 * n; }
APART void install(int i) { table[i].handler = twice; }
APART long call(int i) { return table[i].handler(3) + 1; }
APART int length_of_all(void) { int n = 0; for (int i = 0; i < 5; i++) n += table[i].length; return n; }

int main(void)
{
	run_used(); run_kind(); run_length(); run_tag(); run_number(); run_ratio(); run_high(); run_dirty(); run_locked(); run_x(); run_y();
	ONLY(install, R "{pointer+function handler}"); ONLY(call, R "{pointer+function handler}"); ONLY(length_of_all, R "{unsigned_int:18 length}");
	truth_in(WATCHED, BYTES, R "{pointer+function handler} | Backtracking *", "twice");
	install(2); sink += call(2) + length_of_all();
	tell();
	return 0;
}
