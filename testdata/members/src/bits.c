/* Bit fields: each function accesses one, of which only masks, shifts and
   immediates tell which it is. */
#include "watched.h"
#include <stdbool.h>

#define u unsigned
#define ull unsigned long long
#define ll long long
typedef unsigned char uc;
typedef unsigned short us;

struct flags { u ready : 1, mode : 4, level : 11, rest : 16; };
struct mixed { int low : 5, mid : 7; u top : 9; int end : 11; };
struct named { char name[5]; uc kind : 3, state : 5; us port : 9, spare : 7; };
struct tight { char tag; u a : 3, b : 10, c : 13; } __attribute__((packed));
struct across { char head[3]; ull one : 7, two : 33, three : 20; u four : 12; } __attribute__((packed));
struct wide { ull first : 12, second : 20, third : 31; ll fourth : 1; long after; };
struct parted { u x : 6; u : 0; u y : 6; u : 3; u z : 7; char last; };
struct truths { bool yes : 1, no : 1; u count : 6; bool alone; char text[4]; bool late : 1; };
struct header { short version; struct { u urgent : 1, code : 7, hops : 8; } opt; struct flags inner; };
union word { u all; struct { u lo : 8, mi : 12, hi : 12; }; };
enum colour { RED, GREEN, BLUE };
struct drawn { enum colour colour : 2; u size : 6; signed char shade : 4; short depth : 12; u char_like : 8, word_like : 16, pad : 8; };

/* FIELD(name, keyword, type, member, descriptor behind that of the whole, type of C, a number that fits) */
#define FIELDS \
	FIELD(ready, struct, flags, ready, "{unsigned_int:1 ready}", u, 1) \
	FIELD(mode, struct, flags, mode, "{unsigned_int:4 mode}", u, 5) \
	FIELD(level, struct, flags, level, "{unsigned_int:11 level}", u, 700) \
	FIELD(rest, struct, flags, rest, "{unsigned_int:16 rest}", u, 999) \
	FIELD(low, struct, mixed, low, "{int:5 low}", int, -3) \
	FIELD(mid, struct, mixed, mid, "{int:7 mid}", int, 41) \
	FIELD(top, struct, mixed, top, "{unsigned_int:9 top}", u, 300) \
	FIELD(end, struct, mixed, end, "{int:11 end}", int, -700) \
	FIELD(kind, struct, named, kind, "{uc=unsigned_char:3 kind}", u, 5) \
	FIELD(state, struct, named, state, "{uc=unsigned_char:5 state}", u, 17) \
	FIELD(port, struct, named, port, "{us=unsigned_short:9 port}", u, 300) \
	FIELD(spare, struct, named, spare, "{us=unsigned_short:7 spare}", u, 77) \
	FIELD(a, struct, tight, a, "{unsigned_int:3 a}", u, 5) \
	FIELD(b, struct, tight, b, "{unsigned_int:10 b}", u, 700) \
	FIELD(c, struct, tight, c, "{unsigned_int:13 c}", u, 5000) \
	FIELD(one, struct, across, one, "{unsigned_long_long:7 one}", ull, 99) \
	FIELD(two, struct, across, two, "{unsigned_long_long:33 two}", ull, 0x123456789ull) \
	FIELD(three, struct, across, three, "{unsigned_long_long:20 three}", ull, 777777) \
	FIELD(four, struct, across, four, "{unsigned_int:12 four}", u, 3000) \
	FIELD(first, struct, wide, first, "{unsigned_long_long:12 first}", ull, 3000) \
	FIELD(second, struct, wide, second, "{unsigned_long_long:20 second}", ull, 777777) \
	FIELD(third, struct, wide, third, "{unsigned_long_long:31 third}", ull, 0x51234567) \
	FIELD(fourth, struct, wide, fourth, "{long_long:1 fourth}", ll, -1) \
	FIELD(x, struct, parted, x, "{unsigned_int:6 x}", u, 33) \
	FIELD(y, struct, parted, y, "{unsigned_int:6 y}", u, 44) \
	FIELD(z, struct, parted, z, "{unsigned_int:7 z}", u, 99) \
	FIELD(yes, struct, truths, yes, "{_Bool:1 yes}", bool, 1) \
	FIELD(no, struct, truths, no, "{_Bool:1 no}", bool, 1) \
	FIELD(count, struct, truths, count, "{unsigned_int:6 count}", u, 42) \
	FIELD(late, struct, truths, late, "{_Bool:1 late}", bool, 1) \
	FIELD(opt_urgent, struct, header, opt.urgent, "{structure:opt}.{unsigned_int:1 urgent}", u, 1) \
	FIELD(opt_code, struct, header, opt.code, "{structure:opt}.{unsigned_int:7 code}", u, 99) \
	FIELD(opt_hops, struct, header, opt.hops, "{structure:opt}.{unsigned_int:8 hops}", u, 200) \
	FIELD(inner_mode, struct, header, inner.mode, "{structure:flags}.{unsigned_int:4 mode}", u, 9) \
	FIELD(inner_rest, struct, header, inner.rest, "{structure:flags}.{unsigned_int:16 rest}", u, 50000) \
	FIELD(lo, union, word, lo, "{structure:-}.{unsigned_int:8 lo}", u, 200) \
	FIELD(mi, union, word, mi, "{structure:-}.{unsigned_int:12 mi}", u, 3000) \
	FIELD(hi, union, word, hi, "{structure:-}.{unsigned_int:12 hi}", u, 3001) \
	FIELD(colour, struct, drawn, colour, "{enumeration:colour:2 colour}", u, 2) \
	FIELD(size, struct, drawn, size, "{unsigned_int:6 size}", u, 55) \
	FIELD(shade, struct, drawn, shade, "{signed_char:4 shade}", int, -5) \
	FIELD(depth, struct, drawn, depth, "{short:12 depth}", int, -1500) \
	FIELD(char_like, struct, drawn, char_like, "{unsigned_int:8 char_like}", u, 222) \
	FIELD(word_like, struct, drawn, word_like, "{unsigned_int:16 word_like}", u, 40000)

/* What is done to each of them. */
#define FIELD(n, k, t, m, d, c, x) \
	APART void set_##t##_##n(k t *p, c v) { p->m = v; } \
	APART void fix_##t##_##n(k t *p) { p->m = x; } \
	APART void clear_##t##_##n(k t *p) { p->m = 0; } \
	APART c get_##t##_##n(const k t *p) { return p->m; } \
	APART int test_##t##_##n(const k t *p) { return p->m ? 3 : 5; } \
	APART void when_##t##_##n(const k t *p) { if (p->m == (c)(x)) sink++; } \
	APART void add_##t##_##n(k t *p) { p->m++; } \
	APART void join_##t##_##n(k t *p, c v) { p->m |= v; } \
	APART void flip_##t##_##n(k t *p) { p->m ^= 1; } \
	APART void less_##t##_##n(k t *p, int a, int b) { p->m = a < b; } \
	APART void take_##t##_##n(k t *p, const k t *from) { p->m = from->m; } \
	APART long sum_##t##_##n(k t *p, int n) { long s = 0; for (int i = 0; i < n; i++) { if (i & 1) s += p->m; else p->m = i; __asm__ volatile("" ::: "memory"); } return s; }
FIELDS
#undef FIELD

#define WORDS_struct "structure"
#define WORDS_union "union"

int main(void)
{
	watch();
	static char other[BYTES];
#define FIELD(n, k, t, m, d, c, x) { \
		static const char *const whole = "{" WORDS_##k ":" #t "}." d; \
		ONLY(set_##t##_##n, whole); ONLY(fix_##t##_##n, whole); ONLY(clear_##t##_##n, whole); ONLY(get_##t##_##n, whole); \
		ONLY(test_##t##_##n, whole); ONLY(when_##t##_##n, whole); ONLY(add_##t##_##n, whole); ONLY(join_##t##_##n, whole); \
		ONLY(flip_##t##_##n, whole); ONLY(less_##t##_##n, whole); ONLY(take_##t##_##n, whole); ONLY(sum_##t##_##n, whole); \
		k t *p = (k t *)WATCHED, *q = (k t *)other; \
		set_##t##_##n(p, 1); fix_##t##_##n(p); sink += get_##t##_##n(p) + test_##t##_##n(p); when_##t##_##n(p); add_##t##_##n(p); \
		join_##t##_##n(p, 1); flip_##t##_##n(p); clear_##t##_##n(p); less_##t##_##n(p, 1, 2); take_##t##_##n(p, q); sink += sum_##t##_##n(p, 4); \
	}
	FIELDS
	tell();
	return 0;
}
