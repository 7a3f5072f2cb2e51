/* Stripped, without a build-id: only the file that its debug link names tells the
 * names of its static functions. twice spends two thirds of the time. */
static volatile long sink;

static __attribute__((noinline)) void once(void) {
	for (long i = 0; i < 100000000; i++)
		sink += i;
}

static __attribute__((noinline)) void twice(void) {
	for (long i = 0; i < 200000000; i++)
		sink += i;
}

int main(void) {
	for (int i = 0; i < 5; i++) {
		once();
		twice();
	}
	return 0;
}
