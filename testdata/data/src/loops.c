/* Loops over arrays: of numbers and of structures, global, of functions and
   behind pointers, of one and more dimensions, forwards, backwards, by steps,
   unrolled and in vectors. */
#include "truth.h"
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

enum { ROWS = 24, COLUMNS = 640, LONG = 6 * PAGE, MANY = 700 };
struct particle { double x, y, z; float mass; int id; struct { float u, v; } spin[2]; }; /* 48 bytes */
struct cell { int value; unsigned char wall[12]; };
struct grid { long width; double at[40][200]; struct cell cells[400]; };

OWN double matrix[ROWS][COLUMNS];
OWN static double product[ROWS][COLUMNS], transposed[COLUMNS][ROWS];
OWN static float samples[LONG], filtered[LONG];
OWN int counts[LONG];
OWN static unsigned char bytes[8 * LONG];
OWN static short pixels[64][32][16];
OWN static struct particle particles[MANY];
OWN struct cell cells[40][100];
OWN static struct grid grid;
OWN static char rest[PAGE];

static void tell_particles(struct particle *p, int n)
{
#define P "{structure:particle}."
	EACH(p, x, P "{double x}", n); EACH(p, y, P "{double y}", n); EACH(p, z, P "{double z}", n);
	EACH(p, mass, P "{float mass}", n); EACH(p, id, P "{int id}", n);
	for (int k = 0; k < 2; k++) {
		EACH(p, spin[k].u, P "{structure:spin}.{float u}", n); EACH(p, spin[k].v, P "{structure:spin}.{float v}", n);
	}
}
static void tell_cells(struct cell *c, int n, const char *value, const char *wall)
{
	EACH(c, value, value, n);
	EACH(c, wall, wall, n);
}
#define C "{structure:cell}."
#define G "{structure:grid}."
static void tell_statics(void)
{
#define A(v, type, scope) truth_scope(v, sizeof v, "{" type " " #v "}", scope)
	A(matrix, "array[24]:array[640]:double", "load object"); A(product, "array[24]:array[640]:double", "compilation unit");
	A(transposed, "array[640]:array[24]:double", "compilation unit");
	A(samples, "array[24576]:float", "compilation unit"); A(filtered, "array[24576]:float", "compilation unit");
	A(counts, "array[24576]:int", "load object"); A(bytes, "array[196608]:unsigned_char", "compilation unit");
	A(pixels, "array[64]:array[32]:array[16]:short", "compilation unit");
	tell_particles(particles, MANY);
	tell_cells(cells[0], 4000, C "{int value}", C "{array[12]:unsigned_char wall}");
	F(&grid, width, G "{long width}");
	F(&grid, at, G "{array[40]:array[200]:double at}");
	tell_cells(grid.cells, 400, G C "{int value} | " C "{int value}", G C "{array[12]:unsigned_char wall} | " C "{array[12]:unsigned_char wall}");
}
NI static void blank_statics(void) { blank(matrix, sizeof matrix); blank(product, sizeof product); blank(transposed, sizeof transposed); }

NI void fill(double by)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			matrix[i][k] = i * by + k;
}
NI void multiply(double by)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			product[i][k] = matrix[i][k] * by + matrix[ROWS - 1 - i][k];
}
NI void transpose(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			transposed[k][i] = matrix[i][k];
}
NI void filter(float a, float b)
{
	for (int i = 1; i < LONG - 1; i++)
		filtered[i] = a * samples[i - 1] + b * samples[i] + a * samples[i + 1];
}
NI void reverse(void)
{
	for (int i = 0, k = LONG - 1; i < k; i++, k--) {
		float t = samples[i];
		samples[i] = samples[k];
		samples[k] = t;
	}
}
NI long histogram(void)
{
	long sum = 0;
	for (int i = 0; i < 8 * LONG; i += 31)
		counts[(bytes[i] + i) % LONG]++;
	for (int i = LONG - 1; i >= 0; i -= 1024)
		sum += counts[i];
	return sum;
}
NI int scan(unsigned char what)
{
	unsigned char *p = bytes, *end = bytes + sizeof bytes;
	while (p < end && *p != what + 1)
		p += 3;
	return p - bytes;
}
NI int brighten(int by)
{
	int sum = 0;
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 32; k += 4)
			for (int m = 0; m < 16; m++)
				sum += pixels[i][k][m] += by;
	return sum;
}
NI void drift(double dt)
{
	for (int i = 0; i < MANY; i++) {
		particles[i].x += particles[i].spin[0].u * dt;
		particles[i].spin[1].v -= 1;
		particles[i].id = i;
	}
}
NI double mass(void)
{
	double sum = 0;
	for (struct particle *p = particles; p < particles + MANY; p++)
		sum += p->mass;
	return sum;
}
NI int walls(int n)
{
	int sum = 0;
	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 100; k += 3) {
			cells[i][k].value = k;
			sum += cells[i][k].wall[(i + n) % 12];
		}
	return sum;
}
NI double grids(int n)
{
	double sum = 0;
	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 200; k++)
			sum += grid.at[i][k] * n;
	for (int i = n; i < 400; i += 20)
		grid.cells[i].wall[2] = grid.cells[i].value;
	return sum + grid.width;
}

/* The same behind pointers, to fresh memory of the allocator. */
NI static void axpy(double *restrict y, const double *restrict x, double a, int n)
{
	for (int i = 0; i < n; i++)
		y[i] += a * x[i];
}
NI static float dot(const float *a, const float *b, int n)
{
	float sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}
NI static void sort(int *a, int n, int gap)
{
	for (; gap > 0; gap /= 3)
		for (int i = gap; i < n; i += 97) {
			int v = a[i], k = i;
			for (; k >= gap && a[k - gap] < v; k -= gap)
				a[k] = a[k - gap];
			a[k] = v;
		}
}
NI static void accelerate(struct particle *p, int n, double by)
{
	for (int i = 0; i < n; i++) {
		p[i].z += by * p[i].mass;
		p[i].spin[i % 2].u = by;
	}
}
NI static double distance(const struct particle *p, const struct particle *q, const int *order, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++) {
		const struct particle *a = &p[order[i]], *b = q + i;
		double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
		sum += x * x + y * y + z * z;
	}
	return sum;
}
NI static void swap_particles(struct particle *a, struct particle *b) { struct particle t = *a; *a = *b; *b = t; }
NI static double rows(double (*m)[COLUMNS], int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < COLUMNS; k += 2)
			sum += m[i][k];
		m[i][1] = sum;
	}
	return sum;
}
NI static int indirect(short **list, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 3000; k++)
			sum += list[i][k];
	return sum;
}
NI static void spread(struct grid *g, double by)
{
	for (int i = 1; i < 39; i++)
		for (int k = 1; k < 199; k++)
			g->at[i][k] += by * (g->at[i - 1][k] + g->at[i][k - 1]);
	for (int i = 0; i < 400; i++)
		g->cells[i].value += g->width;
}
NI static double on_stack(int n)
{
	double table[30][300];
	struct particle own[300];
	truth_scope(table, sizeof table, "{array[30]:array[300]:double table}", "function on_stack");
	tell_particles(own, 300);
	for (int i = n; i < 30; i++)
		table[i][n] = i;
	for (int i = 0; i < 300; i += n) {
		own[i].y = table[29][n];
		own[i].id = n;
	}
	double sum = 0;
	for (int i = 0; i < 300; i += n)
		sum += own[i].y + own[i].id;
	return sum + table[n][n];
}

#define NEW(p, n) do { p = malloc((n) * sizeof *p); inner(p, (n) * sizeof *p); } while (0)
int main(int argc, char **argv)
{
	double sum = 0;
	tell_statics();
	fill(argc);
	blank_statics(); multiply(argc);
	blank_statics(); transpose();
	filter(0.25f, 0.5f);
	blank(samples, sizeof samples); reverse();
	sum += histogram();
	blank(bytes, sizeof bytes); sum += scan(argc + 6);
	sum += brighten(argc);
	drift(argc);
	blank(particles, sizeof particles); sum += mass();
	sum += walls(argc);
	sum += grids(argc);

	enum { N = 20000 };
	double *x, *y; float *a, *b; int *list; struct particle *p, *q; double (*m)[COLUMNS]; short *shorts[6]; struct grid *g;
	NEW(x, N); NEW(y, N); NEW(a, N); NEW(b, N); NEW(list, N); NEW(p, MANY); NEW(q, MANY); NEW(m, 20); NEW(g, 1);
	truth(x, N * sizeof *x, "{double -} | {const+double -}"); truth(y, N * sizeof *y, "{double -}");
	truth(a, N * sizeof *a, "{float -} | {const+float -}"); truth(b, N * sizeof *b, "{float -} | {const+float -}");
	truth(list, N * sizeof *list, "{int -} | {const+int -}");
	truth(m, 20 * sizeof *m, "{array[640]:double -} | {double -}");
	for (int i = 0; i < 6; i++) {
		NEW(shorts[i], N);
		truth(shorts[i], N * sizeof(short), "{short -}");
	}
	tell_particles(p, MANY);
	tell_particles(q, MANY);
	F(g, width, G "{long width}");
	F(g, at, G "{array[40]:array[200]:double at}");
	tell_cells(g->cells, 400, G C "{int value}", G C "{array[12]:unsigned_char wall}");
	axpy(y, x, argc, N);
	sum += dot(a, b, N);
	sort(list, N, 5000);
	inner(list, N * sizeof *list);
	accelerate(p, MANY, argc);
	sum += distance(q, p, list, MANY);
	inner(p, MANY * sizeof *p);
	for (int i = 1; i < MANY / 2; i += 80)
		swap_particles(p + i, p + MANY - i);
	sum += rows(m, 20);
	sum += indirect(shorts, 6);
	spread(g, argc);
	sum += on_stack(argc + 2);
	tell();
	return sum == 1 && rest[1];
}
