#include "shared.hpp"
static INLINED void over(int n) { TOUCH(n); }
namespace a { static INLINED void step(int n) { TOUCH(n); } }
__attribute__((flatten)) void second()
{
	TOUCH(4);
	Visible v;
	Hidden h;
	const Hidden fixed{};
	a::step(101), over(102), hidden(103), h.go(104), fixed.go(105), of(106), calling(107), v.go(108), both(109);
	struct Local { INLINED void go(int n) { TOUCH(n); } };
	Local().go(110);
}
