/* Unions, nested and anonymous members, arrays in structures, function pointers,
   atomic changes and copies, of an object in memory without a variable. */
#include "watched.h"
#include "ops.h"
#include <stdatomic.h>

struct point { float x, y; };
struct shape {
	unsigned char kind; short id;
	union { int radius; struct { short width, height; }; float side; unsigned char rgba[4]; };
	struct point at;
	union { long whole; struct { int low, high; } half; double real; void *pointer; } value;
	int counts[2];
};
struct node { struct node *next; long key; double weight; int (*compare)(const struct node *, long); };
union any { struct { int tag; struct point at; } point; struct { int tag; long n; } number; struct { int tag; char text[12]; } text; };
struct counters { _Atomic int hits; atomic_long total; int plain; long last; };
typedef struct { int first, second; } pair_t;
struct pairs { pair_t of[3]; long sum; };

#define S "{structure:shape}."
#define N "{structure:node}."
#define A "{union:any}."
#define MEMBERS \
	M(kind, struct shape, kind, S "{unsigned_char kind}", unsigned char) M(id, struct shape, id, S "{short id}", short) \
	M(radius, struct shape, radius, S "{union:-}.{int radius}", int) M(height, struct shape, height, S "{union:-}.{structure:-}.{short height}", short) \
	M(side, struct shape, side, S "{union:-}.{float side}", float) M(x, struct shape, at.x, S "{structure:point}.{float x}", float) \
	M(y, struct shape, at.y, S "{structure:point}.{float y}", float) M(whole, struct shape, value.whole, S "{union:value}.{long whole}", long) \
	M(high, struct shape, value.half.high, S "{union:value}.{structure:half}.{int high}", int) \
	M(real, struct shape, value.real, S "{union:value}.{double real}", double) M(count, struct shape, counts[1], S "{array[2]:int counts}", int) \
	M(key, struct node, key, N "{long key}", long) M(weight, struct node, weight, N "{double weight}", double) \
	M(n, union any, number.n, A "{structure:number}.{long n}", long) M(text, union any, text.text[9], A "{structure:text}.{array[12]:char text}", char) \
	M(second, struct pairs, of[1].second, "{structure:pairs}.{structure:pair_t}.{int second} | {structure:pairs}.{structure:-}.{int second} | {structure:pairs}.{structure:of}.{int second}", int) \
	M(sum, struct pairs, sum, "{structure:pairs}.{long sum}", long)
#define M(n, S, m, d, c) OPS(n, S, m, c)
MEMBERS
#undef M

APART long keys(const struct node *n) { long s = 0; for (; n; n = n->next) s += n->key; return s; }
APART int nexts(const struct node *n) { int i = 0; while ((n = n->next)) i++; return i; }
APART struct node *find(struct node *n, long key) { while (n && n->key != key) n = n->next; return n; }
APART void heavier(struct node *n) { for (; n; n = n->next) n->weight *= 1.5; }
APART int compared(const struct node *n, long key) { return n->compare(n, key) + 1; }
APART int tail(const struct node *n, long key) { return n->compare(n, key); }
APART int order(const struct node *n, long key) { return key > 3; }
APART void install(struct node *n) { n->compare = order; }
APART long through(struct node **p) { return (*p)->key; }
APART double nth(const struct node *n, int i) { return n[i].weight; }

APART void hit(struct counters *c) { c->hits++; }
APART long total(struct counters *c, long n) { return atomic_fetch_add(&c->total, n); }
APART long swap(struct counters *c) { return atomic_exchange(&c->total, 5); }
APART int cas(struct counters *c) { int old = 3; return atomic_compare_exchange_strong(&c->hits, &old, 4); }
APART void store(struct counters *c) { atomic_store(&c->total, 7); }
APART int peek(struct counters *c) { return atomic_load_explicit(&c->hits, memory_order_acquire); }
APART void or_it(struct counters *c) { atomic_fetch_or(&c->hits, 8); }
APART void plainly(struct counters *c) { c->plain ^= 0x55; }
APART void last(struct counters *c) { c->last = -c->last; }

APART void copy_node(struct node *to, const struct node *from) { *to = *from; }
APART void clear_node(struct node *n) { memset(n, 0, sizeof *n); }
APART void copy_counts(int *to, const struct shape *s) { memcpy(to, s->counts, sizeof s->counts); }
APART long sum_pairs(const struct pairs *p) { long s = 0; for (int i = 0; i < 3; i++) s += p->of[i].second; return s; }

static void all_of(const char *function)
{
	static const char *const members[] = {N "{pointer+structure:node next}", N "{long key}", N "{double weight}", N "{pointer+function compare}"};
	for (int i = 0; i < 4; i++)
		truth_in(WATCHED + 8 * i, 8, members[i], function);
}

int main(void)
{
	watch();
	static char other[BYTES];
#define M(n, S, m, d, c) TRUTHS(n, d) RUN(n, (S *)WATCHED, (S *)other)
	MEMBERS
#undef M
	const char *walks[] = {"keys", "find"};
	for (int i = 0; i < 2; i++) {
		truth_in(WATCHED, 8, N "{pointer+structure:node next}", walks[i]);
		truth_in(WATCHED + 8, 8, N "{long key}", walks[i]);
	}
	truth_in(WATCHED, 8, N "{pointer+structure:node next}", "heavier");
	truth_in(WATCHED + 16, 8, N "{double weight}", "heavier");
	ONLY(nexts, N "{pointer+structure:node next}"); ONLY(install, N "{pointer+function compare}"); ONLY(through, N "{long key}"); ONLY(nth, N "{double weight}");
	ONLY(compared, N "{pointer+function compare}"); ONLY(tail, N "{pointer+function compare}"); ONLY(order, N "{pointer+function compare} | Backtracking *");
#define C "{structure:counters}."
	ONLY(hit, C "{*int hits} | {int -}"); ONLY(cas, C "{*int hits} | {int -}"); ONLY(peek, C "{*int hits} | {int -}"); ONLY(or_it, C "{*int hits} | {int -}");
	ONLY(total, C "{*long total} | {long -}"); ONLY(swap, C "{*long total} | {long -}"); ONLY(store, C "{*long total} | {long -}");
	ONLY(plainly, C "{int plain}"); ONLY(last, C "{long last}");
	all_of("copy_node"); all_of("clear_node");
	ONLY(copy_counts, S "{array[2]:int counts}"); ONLY(sum_pairs, "{structure:pairs}.{structure:pair_t}.{int second} | {structure:pairs}.{structure:-}.{int second} | {structure:pairs}.{structure:of}.{int second}");

	struct node *n = (struct node *)WATCHED, spare = {0};
	struct counters *c = (struct counters *)WATCHED;
	clear_node(n);
	sink += keys(n) + nexts(n) + (find(n, 0) != 0) + through(&n) + (long)nth(n - 2, 2); heavier(n);
	install(n); sink += compared(n, 2) + tail(n, 3); copy_node(&spare, n); copy_node(n, &spare); clear_node(n);
	hit(c); sink += total(c, 3) + swap(c) + cas(c) + peek(c); store(c); or_it(c); plainly(c); last(c);
	int counts[2];
	copy_counts(counts, (struct shape *)WATCHED); sink += counts[0] + sum_pairs((struct pairs *)WATCHED);
	tell();
	return 0;
}
