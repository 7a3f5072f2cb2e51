#include "touch.h"
namespace {
INLINED void hidden(int n) { TOUCH(n); }
struct Hidden {
	INLINED void go(int n) { TOUCH(n); }
	INLINED void go(int n) const { TOUCH(n); }
};
}
template <class T> INLINED void of(T n) { TOUCH((int)n); }
INLINED void calling(int n)
{
	auto l = [](int n) __attribute__((always_inline)) { TOUCH(n); };
	l(n);
}
struct Visible {
	INLINED void go(int n) { TOUCH(n); }
};
template <class T> void both(T n) { TOUCH((int)n); }
