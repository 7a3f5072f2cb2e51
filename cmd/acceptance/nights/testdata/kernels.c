/* Dense linear algebra on small matrices. */
#include <math.h>
#include <stdio.h>

#define N 160
#define NOINLINE __attribute__((noinline))

static double a[N][N], b[N][N], c[N][N], x[N], y[N];

NOINLINE void fill(unsigned seed)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			seed = seed * 1664525u + 1013904223u;
			a[i][j] = (seed >> 8) / 16777216.0 + (i == j) * N;
			b[i][j] = (seed >> 12) / 1048576.0;
		}
}

NOINLINE void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int k = 0; k < N; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
}

NOINLINE void factor(void)
{
	for (int k = 0; k < N; k++)
		for (int i = k + 1; i < N; i++) {
			double f = a[i][k] /= a[k][k];
			for (int j = k + 1; j < N; j++)
				a[i][j] -= f * a[k][j];
		}
}

NOINLINE void solve(void)
{
	for (int column = 0; column < 20; column++) {
		for (int i = 0; i < N; i++) {
			double sum = b[i][column];
			for (int j = 0; j < i; j++)
				sum -= a[i][j] * y[j];
			y[i] = sum;
		}
		for (int i = N - 1; i >= 0; i--) {
			double sum = y[i];
			for (int j = i + 1; j < N; j++)
				sum -= a[i][j] * x[j];
			x[i] = sum / a[i][i];
		}
	}
}

NOINLINE void transpose(void)
{
	for (int round = 0; round < 12; round++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < i; j++) {
				double t = c[i][j];
				c[i][j] = c[j][i];
				c[j][i] = t;
			}
}

NOINLINE double norm(void)
{
	double sum = 0;
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				sum += c[i][j] * c[i][j];
	return sqrt(sum);
}

NOINLINE double waves(void)
{
	double sum = 0;
	for (int i = 0; i < 25000; i++)
		sum += sin(i * 0.001) * exp(-i * 1e-5);
	return sum;
}

int main(void)
{
	double sum = 0;
	for (int round = 0; round < 120; round++) {
		fill(round);
		multiply();
		factor();
		solve();
		transpose();
		sum += norm() + waves();
	}
	printf("%g\n", sum);
	return 0;
}
