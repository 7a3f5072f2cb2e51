/* Variables that are no aggregates: global, static, of a function, of a thread,
   of every type; read, written and changed, directly and through pointers. */
#include "truth.h"
#include <complex.h>
#include <pthread.h>
#include <stdint.h>

enum color { RED, GREEN, BLUE };
struct opaque;
typedef unsigned long counter_t;
typedef int (*callback_t)(int);

OWN char g_char;
OWN signed char g_schar;
OWN unsigned char g_uchar;
OWN short g_short;
OWN unsigned short g_ushort;
OWN int g_int;
OWN unsigned g_unsigned;
OWN long g_long;
OWN unsigned long g_ulong;
OWN long long g_llong;
OWN unsigned long long g_ullong;
OWN float g_float;
OWN double g_double;
OWN long double g_ldouble;
OWN _Bool g_bool;
OWN enum color g_color;
OWN size_t g_size;
OWN counter_t g_counter;
OWN char *g_text;
OWN const char *g_ctext;
OWN volatile int g_volatile;
OWN void *g_any;
OWN struct opaque *g_opaque;
OWN int **g_twice;
OWN int (*g_function)(int);
OWN callback_t g_callback;
OWN double complex g_complex;
OWN static int s_int;
OWN static double s_double;
OWN static const char *s_text;
OWN static _Thread_local char t_first[PAGE]; /* so that nothing else lies on the pages of those of threads */
OWN static _Thread_local int t_int;
OWN _Thread_local double t_double;
OWN static _Thread_local char *t_text;
OWN static _Thread_local char t_last[PAGE];

#define ALL(X) X(g_char) X(g_schar) X(g_uchar) X(g_short) X(g_ushort) X(g_int) X(g_unsigned) X(g_long) X(g_ulong) X(g_llong) X(g_ullong) \
	X(g_float) X(g_double) X(g_ldouble) X(g_bool) X(g_color) X(g_size) X(g_counter) X(g_text) X(g_ctext) X(g_volatile) X(g_any) \
	X(g_opaque) X(g_twice) X(g_function) X(g_callback) X(g_complex) X(s_int) X(s_double) X(s_text)

static void tell_all(void)
{
#define G(v, type) truth_scope(&v, sizeof v, "{" type " " #v "}", "load object")
	G(g_char, "char"); G(g_schar, "signed_char"); G(g_uchar, "unsigned_char");
	G(g_short, "short"); G(g_ushort, "unsigned_short"); G(g_int, "int"); G(g_unsigned, "unsigned_int");
	G(g_long, "long"); G(g_ulong, "unsigned_long"); G(g_llong, "long_long"); G(g_ullong, "unsigned_long_long");
	G(g_float, "float"); G(g_double, "double"); G(g_ldouble, "long_double"); G(g_bool, "_Bool"); G(g_color, "enumeration:color");
	G(g_size, "size_t=unsigned_long"); G(g_counter, "counter_t=unsigned_long"); G(g_text, "pointer+char"); G(g_ctext, "pointer+const+char");
	G(g_volatile, "volatile+int"); G(g_any, "pointer+void"); G(g_opaque, "pointer+structure:opaque"); G(g_twice, "pointer+pointer+int");
	G(g_function, "pointer+function"); G(g_callback, "callback_t=pointer+function"); G(g_complex, "complex*");
#define S(v, type) truth_scope(&v, sizeof v, "{" type " " #v "}", "compilation unit")
	S(s_int, "int"); S(s_double, "double"); S(s_text, "pointer+const+char");
}

NI void blank_all(void)
{
#define B(v) blank(&v, sizeof v);
	ALL(B)
}

NI void write_all(int n, char *text)
{
	g_char = n; g_schar = n + 1; g_uchar = n; g_short = n; g_ushort = n; g_int = n; g_unsigned = n; g_long = n; g_ulong = 7;
	g_llong = n; g_ullong = n; g_float = n; g_double = n * 0.5; g_ldouble = n; g_bool = n > 3; g_color = BLUE; g_size = n; g_counter = n;
	g_text = text; g_ctext = text; g_volatile = n; g_any = text; g_opaque = 0; g_twice = 0; g_function = 0; g_callback = 0;
	g_complex = n + 2.0 * I; s_int = n; s_double = n; s_text = text;
}

NI double read_all(void)
{
	double sum = g_char + g_schar + g_uchar + g_short + g_ushort + g_int + g_unsigned + g_long + g_ulong + g_llong + g_ullong;
	sum += g_float + g_double + g_ldouble + creal(g_complex) + s_int + s_double;
	if (g_bool || g_color == GREEN || g_size > 10 || g_counter > 20)
		sum++;
	if (!g_text || !g_ctext || g_volatile || g_any || g_opaque || g_twice || g_function || g_callback || s_text)
		sum--;
	return sum;
}

NI void change_all(int by)
{
	g_char++; g_schar--; g_uchar |= 4; g_short += by; g_ushort ^= 1; g_int++; g_unsigned <<= 1; g_long -= by; g_ulong *= 3; g_llong++;
	g_ullong += by; g_float += 1; g_double *= 2; g_ldouble += by; g_size += by; g_counter++; g_text += by; g_ctext++; g_volatile++;
	g_complex += by; s_int += by; s_double /= 3; s_text++;
	__atomic_fetch_add(&g_unsigned, by, __ATOMIC_SEQ_CST);
}

NI int count(int by)
{
	OWN static int calls;
	OWN static double total;
	if (by == 0) {
		truth_scope(&calls, sizeof calls, "{int calls}", "function count");
		truth_scope(&total, sizeof total, "{double total}", "function count");
		blank(&calls, sizeof calls);
		blank(&total, sizeof total);
		return 0;
	}
	calls += by;
	total += 0.5 * by;
	return calls;
}

/* What they point to is known by its address alone. */
NI void through(int *i, double *d, long *l) { *i = 3; *d += 4; *l -= 1; }
NI void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }

static void *thread(void *arg)
{
#define T(v, type) truth_scope(&v, sizeof v, "{" type " " #v "}", "")
	T(t_int, "int"); T(t_double, "double"); T(t_text, "pointer+char");
	blank(&t_int, sizeof t_int); blank(&t_double, sizeof t_double); blank(&t_text, sizeof t_text);
	t_first[1]++;
	t_int++;
	t_double = *(int *)arg;
	t_text = arg;
	t_last[1]++;
	return 0;
}

int main(int argc, char **argv)
{
	tell_all();
	double sum = 0;
	blank_all(); write_all(argc, argv[0]);
	blank_all(); sum += read_all();
	blank_all(); change_all(argc);
	count(0); sum += count(argc);
	blank_all(); through(&g_int, &g_double, &g_long); swap(&s_int, &g_int);
	for (int i = 0; i < 2; i++) {
		pthread_t id;
		pthread_create(&id, 0, thread, &argc);
		pthread_join(id, 0);
	}
	tell();
	return sum == 5;
}
