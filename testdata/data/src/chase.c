/* Pointers followed: lists, trees, hash tables, graphs, queues, tables of strings. */
#include "truth.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two-fold linked list whose links are a member of what it links. */
struct link { struct link *next, *prev; };
struct job {
	int priority;
	unsigned state;
	struct link link;
	double cost;
	char name[24];
	struct job *waiter;
};
struct queue { struct link head; long length; struct job *last; };

static void tell_job(struct job *j)
{
#define J "{structure:job}."
	F(j, priority, J "{int priority}");
	F(j, state, J "{unsigned_int state}");
	/* behind a pointer to the link alone, only that is known */
	F(j, link.next, J "{structure:link}.{pointer+structure:link next} | {structure:link}.{pointer+structure:link next}");
	F(j, link.prev, J "{structure:link}.{pointer+structure:link prev} | {structure:link}.{pointer+structure:link prev}");
	F(j, cost, J "{double cost}");
	F(j, name, J "{array[24]:char name}");
	F(j, waiter, J "{pointer+structure:job waiter}");
}
#define job_of(l) ((struct job *)((char *)(l) - offsetof(struct job, link)))

NI void append(struct queue *q, struct job *j)
{
	struct link *last = q->head.prev;
	j->link.next = &q->head;
	j->link.prev = last;
	last->next = &j->link;
	q->head.prev = &j->link;
	q->length++;
	q->last = j;
}
NI void unlink_job(struct job *j)
{
	j->link.prev->next = j->link.next;
	j->link.next->prev = j->link.prev;
	j->link.next = j->link.prev = 0;
}
NI double total_cost(struct queue *q)
{
	double sum = 0;
	for (struct link *l = q->head.next; l != &q->head; l = l->next)
		sum += job_of(l)->cost;
	return sum;
}
NI struct job *urgent(struct queue *q)
{
	struct job *best = 0;
	for (struct link *l = q->head.next; l != &q->head; l = l->next) {
		struct job *j = job_of(l);
		if (!best || j->priority > best->priority || (j->priority == best->priority && j->cost < best->cost))
			best = j;
	}
	return best;
}
NI int backwards(struct queue *q)
{
	int n = 0;
	for (struct link *l = q->head.prev; l != &q->head; l = l->prev)
		n += job_of(l)->state;
	return n;
}
NI void rename_jobs(struct queue *q)
{
	char name[24];
	int n = 0;
	for (struct link *l = q->head.next; l != &q->head; l = l->next) {
		sprintf(name, "job %d", n++);
		strcpy(job_of(l)->name, name);
		job_of(l)->name[23] = n;
	}
}

struct tree { struct tree *left, *right; long key; float weight; short height; };
static void tell_tree(struct tree *t)
{
#define T "{structure:tree}."
	/* behind a pointer to the member, only its type is known */
	F(t, left, T "{pointer+structure:tree left} | {pointer+structure:tree -}");
	F(t, right, T "{pointer+structure:tree right} | {pointer+structure:tree -}");
	F(t, key, T "{long key}");
	F(t, weight, T "{float weight}");
	F(t, height, T "{short height}");
}
NI struct tree *insert(struct tree *t, struct tree *n)
{
	if (!t) {
		n->weight = 1;
		return n;
	}
	if (n->key < t->key)
		t->left = insert(t->left, n);
	else
		t->right = insert(t->right, n);
	t->height++;
	return t;
}
NI struct tree *find(struct tree *t, long key)
{
	while (t && t->key != key)
		t = key < t->key ? t->left : t->right;
	return t;
}
NI float weigh(const struct tree *t) { return t ? weigh(t->left) + t->weight + weigh(t->right) : 0; }
NI void put(struct tree **where, struct tree *n)
{
	while (*where)
		where = n->key < (*where)->key ? &(*where)->left : &(*where)->right;
	*where = n;
}

struct entry { struct entry *next; unsigned hash; const char *word; int count; };
struct table { struct entry **buckets; unsigned size; int used; };
static void tell_entry(struct entry *e)
{
#define E "{structure:entry}."
	F(e, next, E "{pointer+structure:entry next}");
	F(e, hash, E "{unsigned_int hash}");
	F(e, word, E "{pointer+const+char word}");
	F(e, count, E "{int count}");
}
static unsigned hash_of(const char *s)
{
	unsigned h = 5381;
	for (; *s; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}
NI struct entry *look_up(struct table *t, const char *word)
{
	unsigned h = hash_of(word);
	for (struct entry *e = t->buckets[h % t->size]; e; e = e->next)
		if (e->hash == h && strcmp(e->word, word) == 0)
			return e;
	return 0;
}
NI struct entry *add(struct table *t, const char *word)
{
	struct entry *e = look_up(t, word);
	if (!e) {
		e = slot(sizeof *e, 8);
		tell_entry(e);
		e->word = word;
		e->hash = hash_of(word);
		struct entry **b = &t->buckets[e->hash % t->size];
		e->next = *b;
		*b = e;
		t->used++;
	}
	e->count++;
	return e;
}
NI void resize(struct table *t, struct entry **to, unsigned size)
{
	for (unsigned i = 0; i < t->size; i++)
		for (struct entry *e = t->buckets[i], *next; e; e = next) {
			next = e->next;
			e->next = to[e->hash % size];
			to[e->hash % size] = e;
		}
	t->buckets = to;
	t->size = size;
}

/* A graph with arrays of edges in memory of their own. */
struct vertex { int degree, mark; struct edge { struct vertex *to; float length; } *edges; double distance; };
static void tell_vertex(struct vertex *v, int degree)
{
#define V "{structure:vertex}."
	F(v, degree, V "{int degree}");
	F(v, mark, V "{int mark}");
	F(v, edges, V "{pointer+structure:edge edges}");
	F(v, distance, V "{double distance}");
	for (int i = 0; i < degree; i++) {
		F(v->edges + i, to, "{structure:edge}.{pointer+structure:vertex to}");
		F(v->edges + i, length, "{structure:edge}.{float length}");
	}
}
NI void relax(struct vertex **all, int n)
{
	for (int i = 0; i < n; i++) {
		struct vertex *v = all[i];
		for (int k = 0; k < v->degree; k++) {
			struct vertex *to = v->edges[k].to;
			double d = v->distance + v->edges[k].length;
			if (to->mark == 0 || d < to->distance) {
				to->distance = d;
				to->mark = 1;
			}
		}
	}
}
NI int visit(struct vertex *v, int mark)
{
	int n = 1;
	if (v->mark == mark)
		return 0;
	v->mark = mark;
	for (struct edge *e = v->edges; e < v->edges + v->degree; e++)
		n += visit(e->to, mark);
	return n;
}

/* A stack with an array at its end, and callbacks with a context. */
struct stack { size_t used, room; void *items[]; };
static void tell_stack(struct stack *s)
{
	F(s, used, "{structure:stack}.{size_t=unsigned_long used}");
	F(s, room, "{structure:stack}.{size_t=unsigned_long room}");
	truth(s->items, s->room * sizeof(void *), "{structure:stack}.{array[]:pointer+void items} | {const+pointer+structure:tree -} | {pointer+const+structure:tree *}"); /* as by_key sees them */
}
NI int push(struct stack *s, void *item)
{
	if (s->used == s->room)
		return 0;
	s->items[s->used++] = item;
	return 1;
}
NI void *pop(struct stack *s) { return s->used ? s->items[--s->used] : 0; }
typedef void (*each_t)(void *item, void *context);
struct sum { long items; double of; };
NI void each(struct stack *s, each_t f, void *context)
{
	for (size_t i = 0; i < s->used; i++)
		f(s->items[i], context);
}
NI static void add_weight(void *item, void *context)
{
	struct tree *t = item;
	struct sum *sum = context;
	sum->items++;
	sum->of += t->weight;
}
NI int by_key(const void *a, const void *b)
{
	const struct tree *s = *(struct tree *const *)a, *t = *(struct tree *const *)b;
	return s->key < t->key ? -1 : s->key > t->key;
}

int main(int argc, char **argv)
{
	enum { N = 40 };
	double sum = 0;
	struct queue *q = slot(sizeof *q, 8);
	F(q, head.next, "{structure:queue}.{structure:link}.{pointer+structure:link next} | {structure:link}.{pointer+structure:link next}");
	F(q, head.prev, "{structure:queue}.{structure:link}.{pointer+structure:link prev} | {structure:link}.{pointer+structure:link prev}");
	F(q, length, "{structure:queue}.{long length}");
	F(q, last, "{structure:queue}.{pointer+structure:job last}");
	q->head.next = q->head.prev = &q->head;
	for (int i = 0; i < N; i++) {
		struct job *j = slot(sizeof *j, 8);
		tell_job(j);
		j->priority = i * 7 % 11;
		j->cost = i;
		forget(); append(q, j);
	}
	forget(); sum += total_cost(q);
	forget(); sum += urgent(q)->state;
	forget(); sum += backwards(q);
	forget(); rename_jobs(q);
	for (int i = 0; i < 10; i++) {
		struct job *j = q->last;
		forget();
		q->last = job_of(j->link.prev);
		j->waiter = q->last;
		unlink_job(j);
	}

	struct tree *root = 0, *nodes[N];
	for (int i = 0; i < N; i++) {
		struct tree *n = slot(sizeof *n, 8);
		tell_tree(n);
		n->key = i * 17 % N;
		nodes[i] = n;
		forget();
		if (i % 2)
			root = insert(root, n);
		else
			put(&root, n);
	}
	for (int i = 0; i < N; i += 5) {
		forget(); sum += find(root, i)->height;
	}
	forget(); sum += weigh(root);

	struct table table = {slot(8 * sizeof(void *), 8), 8, 0};
	truth(table.buckets, 8 * sizeof(void *), "{pointer+structure:entry -}");
	for (int i = 0; i < N; i++) {
		char *word = slot(16, 8);
		truth(word, 16, "{char -} | {const+char -}");
		sprintf(word, "word%d", i);
		forget(); add(&table, word);
		forget(); add(&table, i % 3 ? word : "constant");
	}
	struct entry **larger = slot(64 * sizeof(void *), 8);
	truth(larger, 64 * sizeof(void *), "{pointer+structure:entry -}");
	forget(); resize(&table, larger, 64);
	forget(); sum += look_up(&table, "constant")->count;

	struct vertex *all[N];
	for (int i = 0; i < N; i++)
		all[i] = slot(sizeof *all[i], 8);
	for (int i = 0; i < N; i++) {
		all[i]->degree = 3 + i % 3;
		all[i]->edges = slot(all[i]->degree * sizeof(struct edge), 8);
		tell_vertex(all[i], all[i]->degree);
		for (int k = 0; k < all[i]->degree; k++)
			all[i]->edges[k] = (struct edge){all[(i * 3 + k * 5 + 1) % N], 1.5f};
	}
	forget(); relax(all, N);
	forget(); sum += visit(all[0], 7);

	struct stack *s = slot(sizeof *s + N * sizeof(void *), 8);
	s->room = N;
	tell_stack(s);
	for (int i = 0; i < N; i++) {
		forget(); push(s, nodes[i]);
	}
	struct sum *of = slot(sizeof *of, 8);
	F(of, items, "{structure:sum}.{long items}");
	F(of, of, "{structure:sum}.{double of}");
	forget(); each(s, add_weight, of);
	forget(); qsort(s->items, N, sizeof(void *), by_key);
	for (int i = 0; i < 5; i++) {
		forget(); sum += pop(s) != 0;
	}
	tell();
	return sum == 1;
}
