#include <stddef.h>
#include "shapes.h"
#define NI __attribute__((noinline, noipa))

enum color { RED, GREEN };
typedef enum { OFF, ON } toggle_t;
typedef struct { float x, y; } point_t;
struct private { int first; };
typedef int (*visit_t)(list_t *, void *);

union any { double d; long l; char c[12]; struct { int low, high; } pair; };

struct bits {
  unsigned a : 3, b : 7;
  int : 0;
  signed c : 5;
  unsigned char d : 1;
  long long e : 33;
  unsigned char f;
};

struct scalars {
  char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u; long l; unsigned long ul;
  long long ll; unsigned long long ull; __int128 w; unsigned __int128 uw; _Bool b; float f; double d; long double ld;
  double _Complex z;
};

struct shapes {
  point_t at;
  struct { short left; union { int up; float down; }; };
  union any any[2];
  enum color color;
  toggle_t toggle;
  const volatile char *const name;
  visit_t visit;
  void *restrict any_pointer;
  size_t size;
  double matrix[2][3];
  list_t *lists[4];
  struct private own;
  char rest[];
};

list_t head;
static struct shapes shapes = { .name = "shapes" };
struct scalars scalars;
struct bits bits;
const int fixed[3] = { 1, 2, 3 };
int (*pointed)[5];
_Thread_local long counter = 3;
static _Thread_local char label[8];
struct { int tag; } lone;

list_t *find(list_t *l, unsigned long weight) { while (l && l->weight != weight) l = l->next; return l; }
NI const struct private *private_of(const list_t *l) { return l->private; }
static inline __attribute__((always_inline)) long sum(list_t *l)
{
  static int calls;
  long total = 0;
  for (list_t *i = l; i; i = i->next) total += i->weight;
  calls++;
  return total;
}
NI long walk(list_t *list, int n)
{
  struct local { int *p; long q; } local = { &n, n };
  volatile int many[n + 1];
  many[n] = n;
  label[n] = 1;
  __asm__ volatile("" : : "r"(&local) : "memory");
  for (int i = 0; i < n; i++) { struct private copy = { i }; many[i] = copy.first; }
  return sum(list) + local.q + many[n / 2] + counter++ + shapes.color + private_of(list)->first;
}
