// C++: methods, templates, lambda expressions, virtual calls, exceptions, constructors.
#include "truth.h"
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#ifdef __clang__
#define LAMBDA "main::$_0::operator()(int) const"
#else
#define LAMBDA "main::{lambda(int)#1}::operator()(int) const"
#endif

static volatile int one = 1;

namespace shapes {
struct Shape {
	virtual ~Shape() {}
	virtual void draw(int n) = 0;
	KEPT void twice(int n)
	{
		IN("shapes::Shape::twice(int)");
		CALL(draw(n));
		CALL(draw(n + 1));
		OUT();
	}
};
struct Circle : Shape {
	KEPT void draw(int n) override { IN("shapes::Circle::draw(int)"); TOUCH(n); OUT(); }
};
struct Square : Shape {
	KEPT void draw(int n) override
	{
		IN("shapes::Square::draw(int)");
		CALL(edge(n));
		CALL(edge(2L * n));
		OUT();
	}
	INLINED void edge(int n) { INTO("shapes::Square::edge(int)"); TOUCH(n); OUT(); }
	INLINED void edge(long n) { INTO("shapes::Square::edge(long)"); TOUCH(n); OUT(); }
};
} // namespace shapes

template <typename T> KEPT void generic(T) { IN(sizeof(T) == 1 ? "void generic<char>(char)" : "void generic<int>(int)"); TOUCH(sizeof(T)); OUT(); }

struct Static {
	KEPT Static() { truth_begin(0x20000000); truth_enter('*', "", ""); IN("Static::Static()"); TOUCH(2); OUT(); OUT(); }
} created;

struct Guard {
	int n;
	KEPT ~Guard() { IN("Guard::~Guard()"); TOUCH(n); OUT(); }
};

KEPT void throws(int n)
{
	IN("throws(int)");
	TOUCH(1);
	if (n == 0) {
		truth_line(__LINE__ + 1);
		Guard g{n + 1}; }
	if (one)
		throw std::runtime_error("no");
}

KEPT void catches()
{
	IN("catches()");
	int depth = truth_depth();
	try {
		CALL(throws(one - 1));
	} catch (std::exception &) {
		truth_return(depth);
		TOUCH(2);
	}
	OUT();
}

int main()
{
	IN("main");
	std::unique_ptr<shapes::Shape> c(new shapes::Circle), s(new shapes::Square);
	CALL(c->twice(1));
	CALL(s->twice(1));
	CALL(generic('a'));
	CALL(generic(1));
	CALL(catches());
	std::vector<int> list{1, 2};
	for (int i : list) {
		auto lambda = [&](int n) __attribute__((noinline)) { IN(LAMBDA); TOUCH(n); OUT(); };
		CALL(lambda(i));
	}
	TOUCH(1);
	truth_end();
	return 0;
}
