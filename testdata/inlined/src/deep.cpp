#include "touch.h"
template <int N> INLINED void down(int n)
{
	TOUCH(n);
	if constexpr (N > 0)
		down<N - 1>(n);
}
int main()
{
	PREPARE();
	down<299>(1);
}
