/* A region that was inlined into another function, a region, and a task in it. */
void spin(void);
static inline __attribute__((always_inline)) void inlined_once(int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		spin();
}
void host_of_inlined(int n) { inlined_once(n); }
void plain(int n) {
#pragma omp parallel
	{
		spin();
#pragma omp task
		spin();
	}
}
