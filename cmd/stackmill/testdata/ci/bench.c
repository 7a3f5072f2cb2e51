/* The program of docs/ci.md: eight functions that take half a second of processor time together.
   search takes 40 % of that, and PLANT / 10 % of what it takes in the good build. */
#define PLANT 1000
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)
const char plant[] = "plant=" QUOTED(PLANT); /* tells the builds apart */
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
	sink = (unsigned long)plant;
	for (int round = 0; round < 100; round++) {
		parse(3 * SCALE);
		hash(5 * SCALE);
		sort(10 * SCALE);
		search(3 * SCALE * PLANT / 100);
		compress(15 * SCALE);
		encode(8 * SCALE);
		checksum(2 * SCALE);
		print(SCALE);
	}
	return 0;
}
