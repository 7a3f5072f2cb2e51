#include "shared.hpp"
namespace {
INLINED void hidden() {
	REGION TOUCHES(130);
}
}
KEPT void c(int n) {
	hidden();
	Shared{n}.member();
}
KEPT void d(int n) {
	Shared{n + 1}.member();
	hidden();
}
void other() {
	c(131);
	d(132);
}
