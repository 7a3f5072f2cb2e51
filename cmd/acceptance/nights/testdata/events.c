/* A simulation: a heap of events, random numbers, and a grid of 2 MB that they change. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE 512
#define NOINLINE __attribute__((noinline))

static struct event {
	double at;
	int kind, cell;
} heap[70000];
static int count;
static float grid[SIDE * SIDE], next_grid[SIDE * SIDE];
static unsigned long state = 88172645463325252ul;

NOINLINE double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) * 0x1p-53;
}

NOINLINE double exponential(void)
{
	return -log(1 - uniform());
}

NOINLINE void sift_up(int i)
{
	struct event e = heap[i];
	while (i && heap[(i - 1) / 2].at > e.at) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = e;
}

NOINLINE void sift_down(void)
{
	struct event e = heap[--count];
	int i = 0;
	for (;;) {
		int child = 2 * i + 1;
		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1].at < heap[child].at)
			child++;
		if (heap[child].at >= e.at)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = e;
}

NOINLINE void schedule(double at, int kind)
{
	heap[count] = (struct event){at, kind, (int)(uniform() * SIDE * SIDE)};
	sift_up(count++);
}

NOINLINE void diffuse(void)
{
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++) {
			float *p = &grid[y * SIDE + x];
			next_grid[y * SIDE + x] = 0.6f * p[0] + 0.1f * (p[1] + p[-1] + p[SIDE] + p[-SIDE]);
		}
	memcpy(grid, next_grid, sizeof grid);
}

NOINLINE void handle(struct event e)
{
	switch (e.kind) {
	case 0:
		grid[e.cell] += 1;
		break;
	case 1:
		grid[e.cell] *= 0.5f;
		break;
	default:
		for (int i = 0; i < 40; i++)
			grid[(e.cell + i * (SIDE + 1)) % (SIDE * SIDE)] += 0.01f;
	}
	schedule(e.at + exponential(), e.kind);
}

int main(void)
{
	for (int i = 0; i < 60000; i++)
		schedule(exponential(), i % 3);
	for (int n = 0; n < 2400000; n++) {
		struct event e = heap[0];
		sift_down();
		handle(e);
		if (n % 9000 == 0)
			diffuse();
	}
	printf("%g\n", grid[4711]);
	return 0;
}
