// calls: heap and I/O calls of functions that are inlined, each as often as the test says.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))
#define CALLED static __attribute__((noinline))

static void *volatile kept;
static char text[4096];

INLINED void *obtain(size_t size) { return kept = malloc(size); }
INLINED void waste(size_t size) { obtain(size); }
INLINED void use(size_t size) { free(obtain(size)); }

CALLED void heap(void) {
	for (int i = 0; i < 10; i++) waste(100);
	for (int i = 0; i < 20; i++) use(1000);
	kept = malloc(7);
}

INLINED void put(int file, size_t size) { kept = (void *)write(file, text, size); }
INLINED void twice(int file) { put(file, 300); put(file, 300); }

CALLED void io(int file) {
	for (int i = 0; i < 5; i++) put(file, 1000);
	for (int i = 0; i < 3; i++) twice(file);
	kept = (void *)write(file, text, 11);
}

int main(void) {
	heap();
	int file = open("/dev/null", O_WRONLY);
	io(file);
	close(file);
	return 0;
}
