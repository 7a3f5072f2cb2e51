/* What functions do to one member: M(name, type of p, member, descriptor, type of
   the member) makes them all, and RUN calls them. */
#define OPS(n, S, m, c) \
	APART void set_##n(S *p, c v) { p->m = v; } \
	APART void clear_##n(S *p) { p->m = 0; } \
	APART c get_##n(const S *p) { return p->m; } \
	APART int test_##n(const S *p) { return p->m != 0 ? 3 : 5; } \
	APART void add_##n(S *p, c v) { p->m += v; } \
	APART void count_##n(S *p) { p->m++; } \
	APART void less_##n(S *p, c v) { if (p->m < v) sink++; } \
	APART void both_##n(S *p, const S *q) { p->m = q->m; }
#define TRUTHS(n, d) \
	ONLY(set_##n, d); ONLY(clear_##n, d); ONLY(get_##n, d); ONLY(test_##n, d); ONLY(add_##n, d); ONLY(count_##n, d); ONLY(less_##n, d); ONLY(both_##n, d);
#define RUN(n, p, q) \
	set_##n(p, 3); sink += (long)get_##n(p) + test_##n(p); add_##n(p, 2); count_##n(p); less_##n(p, 9); clear_##n(p); both_##n(p, q);
