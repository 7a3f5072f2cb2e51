/* A program of eight functions that take 0.5 s of processor time or so together. With
   -DPLANT=105 one of them does 5 % more. */
#ifndef PLANT
#define PLANT 100
#endif
#define SCALE 60000
volatile unsigned long sink;
#define WORK(name, step) \
__attribute__((noinline)) void name(unsigned long n) { \
	unsigned long x = n | 1; \
	for (unsigned long i = 0; i < n; i++) x = x * 6364136223846793005ul + (step) + (x >> 7); \
	sink += x; \
}
WORK(parse, 1)
WORK(hash, 3)
WORK(sort, 5)
WORK(search, 7)
WORK(compress, 9)
WORK(encode, 11)
WORK(checksum, 13)
WORK(print, 15)
int main(void) {
	for (int round = 0; round < 100; round++) {
		parse(3 * SCALE);
		hash(5 * SCALE);
		sort(10 * SCALE);
		search(3 * SCALE * PLANT / 10);
		compress(15 * SCALE);
		encode(8 * SCALE);
		checksum(2 * SCALE);
		print(SCALE);
	}
	return 0;
}
