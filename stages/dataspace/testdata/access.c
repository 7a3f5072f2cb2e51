/* Accesses to known objects, compiled for A64: a line each. */
#define NI __attribute__((noipa))
struct point { double x, y; };
struct item { long key; struct point at[3]; int count; struct item *next; short tail; };
struct item table[8];
static long total;
__thread int mine;
__thread struct point own;

long global(int i) { return table[i].count; }
void local_static(void) { total++; }
void thread(double d) { mine = 1; own.y = d; }
long chase(struct item *p) {
	long n = 0;
	for (; p; p = p->next)
		n += p->key;
	return n;
}
double nested(struct item *p, int i) { return p->at[i].y; }
NI short *inner(struct item *p) { return &p->tail; }
short returned(struct item *p) { return *inner(p); }
NI struct item *make(void) { return table + 1; }
int typed(void) { return make()->count; }
int kept(struct item *p, int (*f)(int)) { int n = f(1); return n + p->count + p->tail; }
double locals(int n, void (*fill)(double *)) {
	double values[40];
	fill(values);
	return values[n];
}
void copy(struct item *to, const struct item *from) { *to = *from; }
