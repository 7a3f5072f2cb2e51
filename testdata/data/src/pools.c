/* What larger programs do: an interpreter, pools linked by index, B-trees, skip
   lists, tagged unions and pointers, sparse matrices, images, packed records,
   priority queues of structures, arenas, caches. */
#include "truth.h"
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An interpreter: code, stack and globals in one structure. */
typedef struct value { enum { NIL, INT, REAL, STRING } tag; union { int64_t integer; double real; struct string *string; } as; } value_t;
struct string { unsigned length, hash; char text[24]; };
struct instruction { uint8_t op, a; uint16_t b; };
struct machine { const struct instruction *code; unsigned pc; int top; value_t stack[64]; value_t globals[32]; long executed; };
enum { PUSH, ADD, MUL, STORE, LOAD, JUMP, HALT, LENGTH };

static void tell_values(value_t *v, int n, const char *tag, const char *integer)
{
	EACH(v, tag, tag, n);
	EACH(v, as, integer, n);
}
NI long run(struct machine *m)
{
	for (;;) {
		const struct instruction *i = &m->code[m->pc++];
		m->executed++;
		switch (i->op) {
		case PUSH:
			m->stack[m->top].tag = INT;
			m->stack[m->top++].as.integer = i->b;
			break;
		case ADD:
			m->top--;
			if (m->stack[m->top].tag == REAL)
				m->stack[m->top - 1].as.real += m->stack[m->top].as.real;
			else
				m->stack[m->top - 1].as.integer += m->stack[m->top].as.integer;
			break;
		case MUL:
			m->top--;
			m->stack[m->top - 1].as.integer *= m->stack[m->top].as.integer;
			break;
		case STORE:
			m->globals[i->a] = m->stack[--m->top];
			break;
		case LOAD:
			m->stack[m->top++] = m->globals[i->a];
			break;
		case LENGTH:
			m->stack[m->top - 1].as.integer = m->globals[i->a].as.string->length;
			break;
		case JUMP:
			if (m->stack[--m->top].as.integer < i->b)
				m->pc = i->a;
			break;
		default:
			return m->stack[0].as.integer;
		}
	}
}

/* A pool linked by index. */
struct particle { float x, v; uint32_t next; uint16_t cell; uint8_t alive, kind; };
struct pool { uint32_t free, used, heads[16]; struct particle *all; };
NI uint32_t spawn(struct pool *p, unsigned cell)
{
	uint32_t i = p->free;
	struct particle *n = &p->all[i];
	p->free = n->next;
	n->next = p->heads[cell];
	p->heads[cell] = i;
	n->cell = cell;
	n->alive = 1;
	p->used++;
	return i;
}
NI float advance(struct pool *p, float dt)
{
	float sum = 0;
	for (int c = 0; c < 16; c++)
		for (uint32_t i = p->heads[c]; i; i = p->all[i].next) {
			p->all[i].x += dt * p->all[i].v;
			if (p->all[i].x > 3)
				p->all[i].alive = 0;
			sum += p->all[i].x;
		}
	return sum;
}

/* A B-tree. */
enum { ORDER = 6 };
struct node { int used; unsigned char leaf; long keys[ORDER]; double values[ORDER]; struct node *children[ORDER + 1]; };
NI double *seek(struct node *n, long key)
{
	for (;;) {
		int i = 0;
		while (i < n->used && n->keys[i] < key)
			i++;
		if (i < n->used && n->keys[i] == key)
			return &n->values[i];
		if (n->leaf)
			return 0;
		n = n->children[i];
	}
}
NI void shift(struct node *n, int at, long key, double value)
{
	for (int i = n->used; i > at; i--) {
		n->keys[i] = n->keys[i - 1];
		n->values[i] = n->values[i - 1];
	}
	n->keys[at] = key;
	n->values[at] = value;
	n->used++;
}
NI double sum_all(const struct node *n)
{
	double sum = 0;
	for (int i = 0; i < n->used; i++)
		sum += n->values[i];
	if (!n->leaf)
		for (int i = 0; i <= n->used; i++)
			sum += sum_all(n->children[i]);
	return sum;
}

/* A skip list, whose nodes end in as many links as they are high. */
struct tower { long key; int height; struct tower *next[]; };
NI struct tower *climb(struct tower *head, long key)
{
	struct tower *t = head;
	for (int level = head->height - 1; level >= 0; level--)
		while (t->next[level] && t->next[level]->key < key)
			t = t->next[level];
	return t->next[0];
}

/* A tree whose pointers to parents have a color in their lowest bit. */
struct rb { uintptr_t parent; struct rb *left, *right; int key; short depth; };
static inline struct rb *parent_of(const struct rb *n) { return (struct rb *)(n->parent & ~(uintptr_t)1); }
NI int depth_of(struct rb *n)
{
	int depth = 0;
	for (; n; n = parent_of(n))
		depth += n->depth + (n->parent & 1);
	return depth;
}
NI void rotate(struct rb **root, struct rb *n)
{
	struct rb *right = n->right, *up = parent_of(n);
	n->right = right->left;
	if (right->left)
		right->left->parent = (uintptr_t)n | (right->left->parent & 1);
	right->left = n;
	right->parent = (uintptr_t)up | 1;
	n->parent = (uintptr_t)right;
	if (!up)
		*root = right;
	else if (up->left == n)
		up->left = right;
	else
		up->right = right;
}

/* A sparse matrix and its product with a vector. */
struct sparse { int rows; const int *start, *column; const double *value; };
NI void spmv(const struct sparse *m, const double *x, double *y)
{
	for (int i = 0; i < m->rows; i++) {
		double sum = 0;
		for (int k = m->start[i]; k < m->start[i + 1]; k++)
			sum += m->value[k] * x[m->column[k]];
		y[i] = sum;
	}
}

/* Images of structures of bytes, and complex numbers. */
struct pixel { unsigned char r, g, b, a; };
struct image { int width, height; struct pixel *pixels; };
NI void gray(struct image *to, const struct image *from)
{
	for (int y = 0; y < from->height; y++)
		for (int x = 0; x < from->width; x++) {
			const struct pixel *p = &from->pixels[y * from->width + x];
			struct pixel *q = to->pixels + y * to->width + x;
			q->r = q->g = q->b = (p->r + 2 * p->g + p->b) / 4;
		}
}
NI int column(const struct image *i, int x)
{
	int sum = 0;
	for (int y = 0; y < i->height; y++)
		sum += i->pixels[y * i->width + x].b;
	return sum;
}
NI double complex turn(double complex *z, int n, double complex w)
{
	double complex sum = 0;
	for (int i = 0; i < n; i += 7) {
		z[i] *= w;
		sum += z[i];
	}
	return sum;
}

/* Records without padding. */
struct __attribute__((packed)) record { uint8_t kind; uint32_t length; uint16_t port; double weight; char data[33]; };
NI uint32_t parse(const struct record *r, int n)
{
	uint32_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += r[i].length + r[i].port + (r[i].kind == 3 ? (uint32_t)r[i].weight : r[i].data[i % 33]);
	return sum;
}

/* A heap of structures that are swapped whole, as qsort's. */
struct event { double time; int what; struct node *node; };
struct schedule { int used; struct event events[200]; };
NI void schedule(struct schedule *s, struct event e)
{
	int i = s->used++;
	for (; i > 0 && s->events[(i - 1) / 2].time > e.time; i = (i - 1) / 2)
		s->events[i] = s->events[(i - 1) / 2];
	s->events[i] = e;
}
NI struct event soonest(struct schedule *s)
{
	struct event first = s->events[0], last = s->events[--s->used];
	int i = 0;
	for (int c; (c = 2 * i + 1) < s->used; i = c) {
		if (c + 1 < s->used && s->events[c + 1].time < s->events[c].time)
			c++;
		if (s->events[c].time >= last.time)
			break;
		s->events[i] = s->events[c];
	}
	s->events[i] = last;
	return first;
}

/* A cache: table of chains and list of use at once. */
struct page { struct page *chain, *newer, *older; uint64_t number; int pins; unsigned dirty : 1, referenced : 1, reads : 30; char *frame; };
struct cache { struct page **table; unsigned mask, hits, misses; struct page *newest, *oldest; };
NI struct page *lookup(struct cache *c, uint64_t number)
{
	struct page *p = c->table[number * 2654435761u & c->mask];
	for (; p && p->number != number; p = p->chain)
		;
	if (!p) {
		c->misses++;
		return 0;
	}
	c->hits++;
	if (p->newer) {
		p->newer->older = p->older;
		if (p->older)
			p->older->newer = p->newer;
		else
			c->oldest = p->newer;
		p->older = c->newest;
		p->newer = 0;
		c->newest->newer = p;
		c->newest = p;
	}
	p->referenced = 1;
	p->pins++;
	return p;
}
NI int evict(struct cache *c)
{
	int n = 0;
	for (struct page *p = c->oldest; p; p = p->newer)
		if (p->pins == 0 && !p->dirty)
			n += p->frame != 0;
	return n;
}

#define NEW(p, n) ((p) = slot((n) * sizeof *(p), 8))
#define M "{structure:machine}."
#define U "{structure:value}.{union:as}.{*"
int main(int argc, char **argv)
{
	double sum = 0;
	static const struct instruction code[] = {{PUSH, 0, 0}, {STORE, 1, 0}, {LOAD, 1, 0}, {PUSH, 0, 3}, {ADD, 0, 0}, {PUSH, 0, 1}, {MUL, 0, 0},
		{STORE, 1, 0}, {LOAD, 1, 0}, {JUMP, 2, 40}, {LOAD, 2, 0}, {LENGTH, 2, 0}, {LENGTH, 3, 0}, {HALT, 0, 0}};
	for (int i = 0; i < 12; i++) {
		struct machine *m; struct string *s; struct instruction *c;
		NEW(m, 1); NEW(s, 1); NEW(c, 14);
		memcpy(c, code, sizeof code);
		F(m, code, M "{pointer+const+structure:instruction code}"); F(m, pc, M "{unsigned_int pc}"); F(m, top, M "{int top}");
		F(m, executed, M "{long executed}");
		tell_values(m->stack, 64, M "{structure:value}.{enumeration:* tag}", M U);
		tell_values(m->globals, 32, M "{structure:value}.{enumeration:* tag}", M U);
		F(s, length, "{structure:string}.{unsigned_int length}");
		EACH(c, op, "{structure:instruction}.{uint8_t=*unsigned_char op}", 14);
		EACH(c, a, "{structure:instruction}.{uint8_t=*unsigned_char a}", 14);
		EACH(c, b, "{structure:instruction}.{uint16_t=*unsigned_short b}", 14);
		m->code = c;
		m->globals[2] = m->globals[3] = (value_t){STRING, {.string = s}};
		forget(); sum += run(m);
	}

	for (int k = 0; k < 4; k++) {
		struct pool *p; NEW(p, 1); NEW(p->all, 600);
		F(p, free, "{structure:pool}.{uint32_t=*unsigned_int free}"); F(p, used, "{structure:pool}.{uint32_t=*unsigned_int used}");
		F(p, heads, "{structure:pool}.{array[16]:uint32_t=*unsigned_int heads}"); F(p, all, "{structure:pool}.{pointer+structure:particle all}");
#define P "{structure:particle}."
		EACH(p->all, x, P "{float x}", 600); EACH(p->all, v, P "{float v}", 600); EACH(p->all, next, P "{uint32_t=*unsigned_int next}", 600);
		EACH(p->all, cell, P "{uint16_t=*unsigned_short cell}", 600); EACH(p->all, alive, P "{uint8_t=*unsigned_char alive}", 600);
		for (int i = 1; i < 599; i++)
			p->all[i].next = i + 1;
		p->free = 1;
		for (int i = 0; i < 60; i++) {
			p->all[i].v = i;
			if (i % 6 == 0)
				forget();
			spawn(p, i % 16);
		}
		forget(); sum += advance(p, 0.1f);
	}

	struct node *root; NEW(root, 1);
#define N "{structure:node}."
	struct node *list[9] = {root};
	for (int k = 0; k < 9; k++) {
		if (k)
			NEW(list[k], 1);
		struct node *n = list[k];
		F(n, used, N "{int used}"); F(n, leaf, N "{unsigned_char leaf}"); F(n, keys, N "{array[6]:long keys}");
		F(n, values, N "{array[6]:double values}"); F(n, children, N "{array[7]:pointer+structure:node children}");
		n->leaf = k > 2;
		for (int i = 0; i < 4; i++) {
			forget(); shift(n, i / 2, k * 10 + i, i);
		}
	}
	for (int k = 1; k < 9; k++)
		list[(k - 1) / 4]->children[(k - 1) % 4] = list[k];
	root->used = list[1]->used = 3; list[2]->leaf = 1;
	forget(); sum += sum_all(root);
	for (long k = 0; k < 60; k += 4) {
		forget(); double *v = seek(root, k);
		if (v)
			sum += *v;
	}

	struct tower *head = slot(sizeof *head + 4 * sizeof(void *), 8), *last[4];
#define TOWER(t, h) do { F(t, key, "{structure:tower}.{long key}"); F(t, height, "{structure:tower}.{int height}"); \
		truth((t)->next, (h) * sizeof(void *), "{structure:tower}.{array[]:pointer+structure:tower next}"); } while (0)
	TOWER(head, 4);
	head->height = 4;
	for (int i = 0; i < 4; i++)
		last[i] = head;
	for (int i = 1; i < 40; i++) {
		int h = 1 + (i % 2 == 0) + (i % 4 == 0) + (i % 8 == 0);
		struct tower *t = slot(sizeof *t + h * sizeof(void *), 8);
		TOWER(t, h);
		t->key = i; t->height = h;
		for (int k = 0; k < h; k++) {
			last[k]->next[k] = t;
			last[k] = t;
		}
	}
	for (int i = 3; i < 40; i += 4) {
		forget(); sum += climb(head, i)->key;
	}

	struct rb *tree[31], *top;
#define R "{structure:rb}."
	for (int i = 0; i < 31; i++) {
		NEW(tree[i], 1);
		struct rb *n = tree[i];
		F(n, parent, R "{uintptr_t=unsigned_long parent}"); F(n, left, R "{pointer+structure:rb left} | {pointer+structure:rb -}"); F(n, right, R "{pointer+structure:rb right} | {pointer+structure:rb -}");
		F(n, key, R "{int key}"); F(n, depth, R "{short depth}");
		if (i) {
			n->parent = (uintptr_t)tree[(i - 1) / 2] | (i & 1);
			*(i % 2 ? &tree[(i - 1) / 2]->left : &tree[(i - 1) / 2]->right) = n;
		}
	}
	top = tree[0];
	for (int i = 10; i < 31; i += 2) {
		forget(); sum += depth_of(tree[i]);
	}
	for (int i = 0; i < 14; i += 3) {
		forget(); rotate(&top, tree[i]);
	}

	struct sparse *sp; int *start, *col; double *val, *x, *y;
	NEW(sp, 1); NEW(start, 200); NEW(col, 2000); NEW(val, 2000); NEW(x, 2000); NEW(y, 200);
	sp->rows = 199; sp->start = start; sp->column = col; sp->value = val;
	F(sp, rows, "{structure:sparse}.{int rows}"); F(sp, start, "{structure:sparse}.{pointer+const+int start}");
	F(sp, column, "{structure:sparse}.{pointer+const+int column}"); F(sp, value, "{structure:sparse}.{pointer+const+double value}");
	truth(start, 800, "{const+int -} | {int -}"); truth(col, 8000, "{const+int -} | {int -}"); truth(val, 16000, "{const+double -} | {double -}");
	truth(x, 16000, "{const+double -} | {double -}"); truth(y, 1600, "{double -}");
	for (int i = 0; i < 200; i++)
		start[i] = i * 9;
	for (int i = 0; i < 2000; i++)
		col[i] = i * 37 % 2000;
	for (int i = 0; i < 4; i++) {
		forget(); spmv(sp, x, y);
	}

	struct image *im, *out;
	NEW(im, 1); NEW(out, 1); NEW(im->pixels, 60 * 80); NEW(out->pixels, 60 * 80);
	struct image *both[] = {im, out};
	for (int i = 0; i < 2; i++) {
		both[i]->width = 80; both[i]->height = 60;
		F(both[i], width, "{structure:image}.{int width}"); F(both[i], height, "{structure:image}.{int height}");
		F(both[i], pixels, "{structure:image}.{pointer+structure:pixel pixels}");
#define X "{structure:pixel}.{unsigned_char "
		EACH(both[i]->pixels, r, X "r}", 4800); EACH(both[i]->pixels, g, X "g}", 4800); EACH(both[i]->pixels, b, X "b}", 4800); EACH(both[i]->pixels, a, X "a}", 4800);
	}
	for (int i = 0; i < 5; i++) {
		forget(); gray(out, im); forget(); sum += column(out, 77 * i % 80);
	}
	double complex *z; NEW(z, 1500);
	truth(z, 1500 * sizeof *z, "{complex* -} | {double -}");
	forget(); sum += creal(turn(z, 1500, 1 + I * argc));

	struct record *rec = slot(100 * sizeof *rec, 1);
#define Q "{structure:record}."
	EACH(rec, kind, Q "{uint8_t=*unsigned_char kind}", 100); EACH(rec, length, Q "{uint32_t=*unsigned_int length}", 100);
	EACH(rec, port, Q "{uint16_t=*unsigned_short port}", 100); EACH(rec, weight, Q "{double weight}", 100); EACH(rec, data, Q "{array[33]:char data}", 100);
	for (int i = 0; i < 4; i++) {
		forget(); sum += parse(rec, 100);
	}

	struct schedule *sch; NEW(sch, 1);
	F(sch, used, "{structure:schedule}.{int used}");
#define E "{structure:schedule}.{structure:event}.{*} | {structure:event}.{*}"
	EACH(sch->events, time, "{structure:schedule}.{structure:event}.{double time} | {structure:event}.{double time}", 200);
	EACH(sch->events, what, "{structure:schedule}.{structure:event}.{int what} | {structure:event}.{int what}", 200);
	EACH(sch->events, node, "{structure:schedule}.{structure:event}.{pointer+structure:node node} | {structure:event}.{pointer+structure:node node}", 200);
	for (int i = 0; i < 150; i++) {
		if (i % 9 == 0)
			forget();
		schedule(sch, (struct event){i * 7 % 150, i, root});
	}
	for (int i = 0; i < 20; i++) {
		forget(); sum += soonest(sch).time;
	}

	struct cache *ca; NEW(ca, 1); NEW(ca->table, 64);
	truth(ca->table, 64 * sizeof(void *), "{pointer+structure:page -}");
#define A "{structure:cache}."
	F(ca, table, A "{pointer+pointer+structure:page table}"); F(ca, mask, A "{unsigned_int mask}"); F(ca, hits, A "{unsigned_int hits}");
	F(ca, misses, A "{unsigned_int misses}"); F(ca, newest, A "{pointer+structure:page newest}"); F(ca, oldest, A "{pointer+structure:page oldest}");
	ca->mask = 63;
	for (int i = 0; i < 50; i++) {
		struct page *p; NEW(p, 1);
#define G "{structure:page}."
		F(p, chain, G "{pointer+structure:page chain}"); F(p, newer, G "{pointer+structure:page newer} | {pointer+structure:page -}"); F(p, older, G "{pointer+structure:page older} | {pointer+structure:page -}");
		F(p, number, G "{uint64_t=*unsigned_long number}"); F(p, pins, G "{int pins}"); F(p, frame, G "{pointer+char frame}");
		truth((char *)&p->pins + 4, 4, G "{unsigned_int:* *}");
		p->number = i;
		struct page **b = &ca->table[i * 2654435761u & ca->mask];
		p->chain = *b; *b = p;
		p->older = ca->newest;
		if (ca->newest)
			ca->newest->newer = p;
		else
			ca->oldest = p;
		ca->newest = p;
	}
	for (int i = 0; i < 60; i += 3) {
		forget(); sum += lookup(ca, i) != 0;
	}
	forget(); sum += evict(ca);
	tell();
	return sum == 1;
}
