/* one calls tiny twice as often as two calls tiny2, each through the procedure linkage table. */
extern long tiny(long), tiny2(long);
volatile long sum;
__attribute__((noinline)) void one(long n) { for (long i = 0; i < n; i++) sum += tiny(i); }
__attribute__((noinline)) void two(long n) { for (long i = 0; i < n; i++) sum += tiny2(i); }
int main(void) {
	one(20L * MILLION);
	two(10L * MILLION);
	return 0;
}
