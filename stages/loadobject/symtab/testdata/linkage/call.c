long tiny(long), tiny2(long);
#ifdef LIBRARY
long tiny(long x) { return x * 3 + 1; }
long tiny2(long x) { return x * 5 + 1; }
#else
long one(long x) { return tiny(x) + 1; }
long two(long x) { return tiny2(x) + 1; }
void _start(void) { for (;;) one(two(1)); }
#endif
#ifdef CHOSEN
static long chosen(long x) { return x * 3 + 1; }
static long chosen2(long x) { return x * 5 + 1; }
static long (*choose(void))(long) { return chosen; }
static long (*choose2(void))(long) { return chosen2; }
long tiny(long) __attribute__((ifunc("choose")));
long tiny2(long) __attribute__((ifunc("choose2")));
#endif
