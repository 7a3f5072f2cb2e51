#include "shared.hpp"
namespace {
INLINED void hidden() {
	REGION TOUCHES(30);
}
struct Local {
	INLINED void go() {
		REGION TOUCHES(31);
	}
	INLINED void go() const {
		REGION TOUCHES(32);
	}
};
}
namespace a {
static INLINED void step(int) {
	REGION TOUCHES(33);
}
}
namespace b {
static INLINED void step(int) {
	REGION TOUCHES(34);
}
static INLINED void step(long) {
	REGION TOUCHES(35);
}
}
template <class T> static INLINED void of(T) {
	REGION TOUCHES((int)sizeof(T) + 60); // 61, 68
}
template <class F> INLINED void each(int n, F f) {
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		f(i);
}
static INLINED void lambdas() {
	auto first = [](int n) __attribute__((always_inline)) {
		REGION TOUCHES(n + 42);
	};
	auto second = [](int n) __attribute__((always_inline)) {
		REGION TOUCHES(n + 43);
	};
	first(0);
	second(0);
	REGION TOUCHES(44);
}
void other();
KEPT void one() {
	hidden(); Local().go(); static const Local c; c.go(); a::step(1); b::step(1); b::step(1l); of('a'); of(1l);
	each(45, [](int) { TOUCHES(1); });
	each(46, [](int) { TOUCHES(1); });
	Shared{47}.member(); lambdas();
}
KEPT void two(int n) {
	hidden(); Local().go(); static const Local c; c.go(); a::step(1); b::step(1); b::step(1l); of('a'); of(1l);
	each(n, [](int) { TOUCHES(1); });
	Shared{48}.member(); lambdas();
}
int main() {
	PREPARE();
	one();
	two(49);
	other();
}
