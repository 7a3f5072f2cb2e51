#include "shared.hpp"
void second();
namespace a { static INLINED void step(int n) { TOUCH(n); } }
namespace b { static INLINED void step(int n) { TOUCH(n); } }
static INLINED void over(int n) { TOUCH(n); }
static INLINED void over(long n) { TOUCH((int)n); }
static INLINED void over(const char *s) { TOUCH(s[0]); }
static INLINED void over(const Visible &, int n) { TOUCH(n); }
struct A { struct In { static INLINED void go(int n) { TOUCH(n); } }; };
struct B { struct In { static INLINED void go(int n) { TOUCH(n); } }; };
template <class T> KEPT void call(void (*volatile f)(T), T n) { f(n); }
#define TWO(f, g) auto f = [](int n) __attribute__((always_inline)) { TOUCH(n); }; auto g = [](int n) __attribute__((always_inline)) { TOUCH(n); }
int main()
{
	PREPARE();
	Visible v;
	Hidden h;
	const Hidden fixed{};
	a::step(11), b::step(12), over(13), over(14L), over("\x0f"), over(v, 16), A::In::go(17), B::In::go(18);
	hidden(19), h.go(20), fixed.go(21), of(22), of(23L), calling(24), v.go(25);
	TWO(one, two);
	one(26), two(27);
	auto outer = [](int n) __attribute__((always_inline)) { auto in = [](int n) __attribute__((always_inline)) { TOUCH(n); }; in(n); TOUCH(28); };
	outer(29);
	struct Local { INLINED void go(int n) { TOUCH(n); } };
	Local().go(30);
	{
		struct Local { INLINED void go(int n) { TOUCH(n); } };
		Local().go(31);
	}
	both(32);
	call(both<int>, 33);
	second();
}
