/* Leaves of many kinds below functions that have frames. */
#include <string.h>
#include <stdlib.h>
int tiny(int), tiny2(int), tiny3(int);
volatile int sink;
static char buf[256];
#define NI __attribute__((noinline))
NI int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s += tiny(i); return s; }
NI int twice(int n) { int s = 0; for (int i = 0; i < n; i++) { s += tiny2(i); if (s & 1) s -= tiny2(s); } return s; }
NI int mixed(int n) { int s = 0; for (int i = 0; i < n; i++) s += tiny(i) + tiny3(i); return s; }
NI int byptr(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
NI int jumper(int x) { sink = x; return tiny3(x + 1); }      /* tail call through the PLT */
NI int tailer(int n) { int s = 0; for (int i = 0; i < n; i++) s += jumper(i); return s; }
NI int copies(int n) { for (int i = 0; i < n; i++) { memcpy(buf + (i & 63), buf + 128, 64); sink += buf[3]; sink += strlen(buf); } return sink; }
NI int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
NI int sorter(int n) { static int v[64]; for (int i = 0; i < n; i++) { for (int k = 0; k < 64; k++) v[k] = (k * 37 + i) & 63; qsort(v, 64, sizeof *v, cmp); } return v[3]; }
NI int small(int x) { return x * 7 + sink; }
NI int leafy(int n) { int s = 0; for (int i = 0; i < n; i++) s += small(i); return s; }
NI int outer(int n) { int s = hot(n); s += twice(n); s += mixed(n / 2); s += byptr(small, n); s += tailer(n); s += copies(n); s += sorter(n / 500); s += leafy(n); return s + 1; }
int main(int argc, char **argv) { int n = atoi(argv[1]); int s = 0; for (int i = 0; i < 20; i++) s += outer(n); sink = s; return 0; }
