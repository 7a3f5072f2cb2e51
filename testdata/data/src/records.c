/* Structures behind pointers: nested ones, unions, bit fields, arrays in them,
   passed, returned, kept across calls, in inlined functions, copied, filled. */
#include "truth.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

typedef struct point { double x, y; } point_t;
typedef struct { float r, g, b; } rgb_t; /* known by its typedef only */
union value { double d; long l; float f; int i; char text[8]; void *p; };
enum kind { NUMBER, WORD, NAME };
struct shape;
struct ops {
	double (*area)(const struct shape *);
	void (*move)(struct shape *, double, double);
	const char *name;
};
struct shape {
	const struct ops *ops;
	uint32_t id;
	enum kind kind;
	point_t at;
	struct { int width, height; } box; /* no name at all */
	rgb_t color;
	union value value;
	union { long ticks; double seconds; }; /* anonymous */
	struct shape *parent;
	short corners[6];
	point_t path[4];
	char label[20];
	unsigned visible : 1, layer : 7, alpha : 8, style : 16;
	uint64_t low : 40, high : 24;
};

static void tell_shape(struct shape *s)
{
#define S "{structure:shape}."
	F(s, ops, S "{pointer+const+structure:ops ops}");
	F(s, id, S "{uint32_t=*unsigned_int id}");
	F(s, kind, S "{enumeration:kind kind}");
	/* behind a pointer to the member alone, only its type is known */
	F(s, at.x, S "{structure:point}.{double x} | {double -}");
	F(s, at.y, S "{structure:point}.{double y} | {double -}");
	F(s, box.width, S "{structure:box}.{int width} | {int -}");
	F(s, box.height, S "{structure:box}.{int height}");
	F(s, color.r, S "{structure:rgb_t}.{float r}");
	F(s, color.g, S "{structure:rgb_t}.{float g}");
	F(s, color.b, S "{structure:rgb_t}.{float b}");
	F(s, parent, S "{pointer+structure:shape parent}");
	F(s, corners, S "{array[6]:short corners}");
	for (int i = 0; i < 4; i++) {
		F(s, path[i].x, S "{structure:point}.{double x}");
		F(s, path[i].y, S "{structure:point}.{double y}");
	}
	F(s, label, S "{array[20]:char label}");
	char *bits = (char *)(s->label + 20);
	truth(bits, 1, S "{unsigned_int:1 visible} | " S "{unsigned_int:7 layer}");
	truth(bits + 1, 1, S "{unsigned_int:8 alpha}");
	truth(bits + 2, 2, S "{unsigned_int:16 style}");
	bits += 4 + -(uintptr_t)(bits + 4) % 8;
	truth(bits, 8, S "{uint64_t=*unsigned_long:40 low} | " S "{uint64_t=*unsigned_long:24 high}");
}

/* What is in a union is told by those who use it. */
#define V(s, member, type) truth(&(s)->value.member, sizeof (s)->value.member, S "{union:value}.{" type " " #member "}")
#define A(s, member, type) truth(&(s)->member, sizeof (s)->member, \
	S "{union:-}.{" type " " #member "} | " S "{" type " " #member "}")

NI struct shape *new_shape(void)
{
	struct shape *s = slot(sizeof *s, 8);
	tell_shape(s);
	/* which member of a union is copied, nothing tells */
	const char *copying[] = {"copy", "main"};
	for (int i = 0; i < 2; i++) {
		truth_in(&s->value, sizeof s->value, S "{union:value}.*", copying[i]);
		truth_in(&s->ticks, sizeof s->ticks, S "{union:-}.*", copying[i]);
	}
	return s;
}

NI static double area_box(const struct shape *s) { return (double)s->box.width * s->box.height; }
NI static void move_box(struct shape *s, double x, double y) { s->at.x += x; s->at.y += y; }
static const struct ops box_ops = {area_box, move_box, "box"};

NI void init(struct shape *s, struct shape *parent, int n)
{
	s->id = n; s->kind = n % 3;
	s->box.width = n; s->box.height = 2 * n;
	s->color.r = 0.5f; s->color.g = n; s->color.b = 1;
	s->at = (point_t){n, -n};
	s->parent = parent;
	s->ops = &box_ops;
	s->corners[n % 6] = n;
	for (int i = 0; i < 4; i++)
		s->path[i].x = s->path[i].y = i;
	s->label[0] = 'a' + n % 26;
}

/* They call through what they keep. */
NI double total_area(struct shape **list, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += list[i]->ops->area(list[i]);
	return sum;
}
NI void move_all(struct shape **list, int n)
{
	for (int i = 0; i < n; i++) {
		struct shape *s = list[i];
		s->ops->move(s, 1, 2);
		s->corners[i % 6]--;
		s->color.g *= 2;
	}
}

static inline double *y_of(struct shape *s) { return &s->at.y; }
static inline struct shape *root(struct shape *s) { while (s->parent) s = s->parent; return s; }
static inline uint32_t id_of(const struct shape *s) { return s->id; }
NI uint32_t inlined(struct shape *s) { *y_of(s) = 3; return id_of(root(s)) + root(s)->kind; }

NI struct shape *heaviest(struct shape **list, int n)
{
	struct shape *best = list[0];
	for (int i = 1; i < n; i++)
		if (list[i]->color.r + list[i]->color.g > best->color.b)
			best = list[i];
	return best;
}
NI int pick(struct shape **list, int n) { return heaviest(list, n)->corners[1] + heaviest(list, n - 1)->box.height; }

/* Two members that are used behind a call: the pointer is kept in a register. */
extern int atoi(const char *);
NI int kept(struct shape *s, const char *text)
{
	int n = atoi(text);
	s->path[n & 3].y = n;
	n += atoi(text + 1);
	return n + s->parent->path[2].y + s->style;
}

NI void set_bits(struct shape *s, int n) { s->alpha = n; s->style = n; s->low = n; }
NI int get_bits(const struct shape *s) { return s->visible + s->alpha * 2; }
NI long get_high(const struct shape *s) { return s->high; }
NI void show(struct shape *s) { s->visible = 1; }
NI void longs(struct shape **list, int n) { for (int i = 0; i < n; i++) { V(list[i], l, "long"); list[i]->value.l = i; } }
NI void doubles(struct shape **list, int n) { for (int i = 0; i < n; i++) { V(list[i], d, "double"); list[i]->value.d = i; } }
NI void floats(struct shape **list, int n) { for (int i = 0; i < n; i++) { V(list[i], f, "float"); list[i]->value.f = i; } }
NI void ints(struct shape **list, int n) { for (int i = 0; i < n; i++) { V(list[i], i, "int"); list[i]->value.i++; } }
NI void ticks(struct shape **list, int n) { for (int i = 0; i < n; i++) { A(list[i], ticks, "long"); list[i]->ticks -= 5; } }
NI void seconds(struct shape **list, int n) { for (int i = 0; i < n; i++) { A(list[i], seconds, "double"); list[i]->seconds += 0.5; } }

NI void copy(struct shape *to, const struct shape *from) { *to = *from; }
NI void clear(struct shape *s) { memset(s, 0, sizeof *s); }
NI double by_value(struct shape s, int i) { return s.path[i].x + s.at.y; }
NI point_t middle(const struct shape *a, const struct shape *b)
{
	return (point_t){(a->at.x + b->at.x) / 2, (a->at.y + b->at.y) / 2};
}
NI void place(struct shape *s, const struct shape *a, const struct shape *b) { s->at = middle(a, b); }
/* The pointer is untyped until it is used. */
NI int untyped(void *p) { struct shape *s = p; return s->kind + s->corners[5]; }
NI int member_of(point_t *p) { return ((struct shape *)((char *)p - offsetof(struct shape, at)))->id; }
NI void through_member(double *x, int *w) { *x = 1; *w += 1; }

/* Static ones, an array of them and one in a function. */
OWN struct shape g_shape;
OWN static struct shape s_shapes[40];
OWN struct shape *g_list[3 * PAGE / sizeof(struct shape *)];
OWN static char rest[PAGE];
NI int statics(int n)
{
	g_shape.box.height = n;
	for (int i = 0; i < n; i++)
		s_shapes[i].box.width = i;
	for (int i = 0; i < n; i += 3)
		s_shapes[i].color.b += s_shapes[39 - i].at.y;
	g_list[n] = &g_shape;
	g_list[n + 600] = g_list[n + 1200];
	return s_shapes[n - 1].box.width + rest[5];
}

/* Locals that are larger than pages. */
struct big { int head; double middle[1500]; struct { long tail; } last; };
NI double locals(int n)
{
	struct big b;
	long table[2000];
	truth(&b.head, sizeof b.head, "{structure:big}.{int head}");
	truth(b.middle, sizeof b.middle, "{structure:big}.{array[1500]:double middle}");
	truth(&b.last, sizeof b.last, "{structure:big}.{structure:last}.{long tail}");
	truth_scope(table, sizeof table, "{array[2000]:long table}", "function locals");
	for (int i = 0; i < 1500; i += 500)
		b.middle[i + n] = i;
	b.head = n;
	b.last.tail = n;
	for (int i = 0; i < 2000; i += 300)
		table[i] = b.middle[n] + i;
	return b.middle[n + 500] + table[n] + b.head + b.last.tail;
}

int main(int argc, char **argv)
{
	enum { N = 30 };
	struct shape **list = calloc(N, sizeof *list);
	for (int i = 0; i < N; i++)
		list[i] = new_shape();
	tell_shape(&g_shape);
	for (int i = 0; i < 40; i++)
		tell_shape(&s_shapes[i]);
	truth_scope(g_list, sizeof g_list, "{array[1536]:pointer+structure:shape g_list}", "load object");
	double sum = 0;
	for (int i = 0; i < N; i++)
		init(list[i], i ? list[i / 2] : 0, i);
	forget(); sum += total_area(list, N);
	forget(); move_all(list, N);
	forget(); sum += inlined(list[N - 1]);
	forget(); sum += inlined(list[12]);
	forget(); sum += pick(list, N);
	for (int i = 3; i < N; i++) {
		forget(); sum += kept(list[i], "12");
	}
	for (int i = 0; i < N; i++) {
		forget(); set_bits(list[i], i); forget(); sum += get_bits(list[i]); forget(); sum += get_high(list[i]); forget(); show(list[i]);
	}
	forget(); longs(list, 8); doubles(list + 8, 8); floats(list + 16, 7); ints(list + 23, 7);
	forget(); ticks(list, 15); seconds(list + 15, 15);
	for (int i = 1; i < N; i += 2) {
		forget(); copy(list[i], list[i - 1]);
		forget(); sum += by_value(*list[i], i % 4);
		forget(); place(list[i], list[i - 1], list[(i + 7) % N]);
	}
	for (int i = 0; i < N; i++) {
		forget(); sum += untyped(list[i]); forget(); sum += member_of(&list[i]->at); forget(); through_member(&list[i]->at.x, &list[i]->box.width);
	}
	forget(); clear(list[5]); clear(list[6]);
	sum += statics(20);
	sum += locals(argc);
	tell();
	return sum == 1;
}
