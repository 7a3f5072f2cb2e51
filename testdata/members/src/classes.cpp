/* Classes: bases, several and virtual ones, templates, bit fields, enumerations,
   references, and what lambdas see. */
extern "C" {
#include "watched.h"
}
#include "ops.h"
#include <atomic>

enum class Mode : unsigned char { off, slow, fast };
struct Base { virtual ~Base() {} int id = 0; short rank = 0; bool open : 1, late : 1; unsigned level : 6; };
struct Derived : Base { long extra = 0; Mode mode : 2; unsigned depth : 9; };
struct Left { long left; };
struct Right { int right; unsigned flags : 7, more : 9; };
struct Both : Left, Right { long own; };
template <class T, int N> struct Ring { T of[N]; unsigned head : 4, tail : 4; int count; };
struct Cell { std::atomic<int> hits; short &other; char text[8]; };

#define D "{structure:Derived}."
#define B "{structure:Base}."
#define MEMBERS \
	M(id, Derived, id, D B "{int id}", int) M(rank, Derived, rank, D B "{short rank}", short) M(open, Derived, open, D B "{bool:1 open}", bool) \
	M(late, Derived, late, D B "{bool:1 late}", bool) M(level, Derived, level, D B "{unsigned_int:6 level}", unsigned) \
	M(extra, Derived, extra, D "{long extra}", long) M(depth, Derived, depth, D "{unsigned_int:9 depth}", unsigned) \
	M(own, Both, own, "{structure:Both}.{long own}", long) M(right, Both, right, "{structure:Both}.{structure:Right}.{int right}", int) \
	M(flags, Both, flags, "{structure:Both}.{structure:Right}.{unsigned_int:7 flags}", unsigned) \
	M(more, Both, more, "{structure:Both}.{structure:Right}.{unsigned_int:9 more}", unsigned) \
	M(of_right, Right, right, "{structure:Right}.{int right} | {structure:Both}.{structure:Right}.{int right}", int) \
	M(of_base, Base, rank, B "{short rank}", short) \
	M(head, IntRing, head, "{structure:Ring<int,_4>}.{unsigned_int:4 head}", unsigned) M(tail, IntRing, tail, "{structure:Ring<int,_4>}.{unsigned_int:4 tail}", unsigned) \
	M(count, IntRing, count, "{structure:Ring<int,_4>}.{int count}", int) M(slot, IntRing, of[2], "{structure:Ring<int,_4>}.{array[4]:int of}", int)
typedef Ring<int, 4> IntRing;
#undef OPS
/* C++ has no ++ for bool, and enough else differs */
#define OPS(n, S, m, c) \
	APART void set_##n(S *p, c v) { p->m = v; } \
	APART void clear_##n(S *p) { p->m = 0; } \
	APART c get_##n(const S *p) { return p->m; } \
	APART int test_##n(const S *p) { return p->m != 0 ? 3 : 5; } \
	APART void add_##n(S *p, c v) { p->m = p->m + v; } \
	APART void count_##n(S &p) { p.m = !p.m; } \
	APART void less_##n(S *p, c v) { auto f = [p](c x) { return p->m < x; }; if (f(v)) sink = sink + 1; } \
	APART void both_##n(S *p, const S *q) { p->m = q->m; }
#undef RUN
#define RUN(n, p, q) \
	set_##n(p, 1); sink = sink + (long)get_##n(p) + test_##n(p); add_##n(p, 0); count_##n(*(p)); less_##n(p, 9); clear_##n(p); both_##n(p, q);
extern "C" {
#define M(n, S, m, d, c) OPS(n, S, m, c)
MEMBERS
#undef M
}

int main()
{
	watch();
	static char other[BYTES];
	static Derived made; /* so that there is a table of its functions, and with it the types */
	sink = sink + made.id;
#define M(n, S, m, d, c) TRUTHS(n, d) RUN(n, (S *)WATCHED, (S *)other)
	MEMBERS
#undef M
	tell();
	return 0;
}
