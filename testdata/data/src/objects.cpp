// Classes: bases, virtual functions, templates, references, namespaces, lambdas,
// members of `this`, objects of the free store and of functions.
#include "truth.h"
#include <cstdio>
#include <cstdlib>
#include <new>

namespace geo {

struct Point {
	double x, y;
	Point(double x, double y) : x(x), y(y) {}
	Point operator+(const Point &p) const { return Point(x + p.x, y + p.y); }
};

class Shape {
public:
	Shape(int id, Point at) : id(id), at(at) {}
	virtual ~Shape() {}
	virtual double area() const = 0;
	virtual void grow(double by) { at.x += by; }
	NI int identity() const { return id; }
	NI void link(Shape *to) { next = to; }
	NI Shape *following() const { return next; }
	static int made;
	void tell(const char *name);

protected:
	int id;
	bool seen = false;
	Point at;
	Shape *next = nullptr;
};
int Shape::made OWN;

enum class Style : unsigned short { Plain, Dotted };

class Box final : public Shape {
public:
	Box(int id, double w, double h) : Shape(id, Point(id, id)), w(w), h(h) { made++; }
	NI double area() const override { return w * h; }
	NI void grow(double by) override
	{
		Shape::grow(by);
		w += by;
	}
	NI void paint(Style s) { style = s; }
	NI bool dotted() const { return style == Style::Dotted && at.y > 0; }
	void tell();

private:
	double w, h;
	Style style = Style::Plain;
};

struct Named { char name[16]; long uses = 0; NI void use() { uses++; } };

class Circle : public Shape, public Named {
public:
	Circle(int id, double r) : Shape(id, Point(-id, id)), r(r) { made++; name[0] = 'c'; }
	NI double area() const override { return 3 * r * r; }
	void tell();
	double r;
};

void Shape::tell(const char *name)
{
	static char text[16][200];
	static int used;
	// what is reached by a pointer to the base is told by that alone
	auto member = [&](const void *p, size_t size, const char *what) {
		char all[200];
		snprintf(all, sizeof all, "{class:geo::%s}.{class:geo::Shape}.%s | {class:geo::Shape}.%s", name, what, what);
		for (int i = 0; i < used; i++)
			if (__builtin_strcmp(text[i], all) == 0)
				return truth(p, size, text[i]);
		snprintf(text[used], sizeof text[used], "%s", all);
		truth(p, size, text[used++]);
	};
	member(this, 8, "{*_vptr*Shape}");
	member(&id, sizeof id, "{int id}");
	member(&seen, sizeof seen, "{bool seen}");
	member(&at.x, sizeof at.x, "{structure:geo::Point}.{double x}");
	member(&at.y, sizeof at.y, "{structure:geo::Point}.{double y}");
	member(&next, sizeof next, "{pointer+class:geo::Shape next}");
}
void Box::tell()
{
	Shape::tell("Box");
	F(this, w, "{class:geo::Box}.{double w}");
	F(this, h, "{class:geo::Box}.{double h}");
	F(this, style, "{class:geo::Box}.{enumeration:geo::Style style}");
}
void Circle::tell()
{
	Shape::tell("Circle");
	F(this, name, "{class:geo::Circle}.{structure:geo::Named}.{array[16]:char name} | {structure:geo::Named}.{array[16]:char name}");
	F(this, uses, "{class:geo::Circle}.{structure:geo::Named}.{long uses} | {structure:geo::Named}.{long uses}");
	F(this, r, "{class:geo::Circle}.{double r}");
}

} // namespace geo

template <class K, class V> struct Pair { K key; V value; };
template <class T, int N> class Ring {
	T items[N];
	unsigned head = 0, used = 0;

public:
	NI bool put(const T &t)
	{
		if (used == N)
			return false;
		items[(head + used++) % N] = t;
		return true;
	}
	NI T take()
	{
		T t = items[head];
		head = (head + 1) % N;
		used--;
		return t;
	}
	NI double sum(double (*of)(const T &)) const
	{
		double s = 0;
		for (unsigned i = 0; i < used; i++)
			s += of(items[(head + i) % N]);
		return s;
	}
	void tell(const char *items_are, const char *head_is, const char *used_is)
	{
		if (items_are)
			truth(items, sizeof items, items_are);
		F(this, head, head_is);
		F(this, used, used_is);
	}
	const T *first() const { return items; }
};
using Entry = Pair<int, double>;
using Numbers = Ring<long, 12>;
using Entries = Ring<Entry, 9>;

template <class T> NI T *made(T *t) { return t; }
template <class T> static inline void exchange(T &a, T &b) { T t = a; a = b; b = t; }

NI void sort_keys(Entry *e, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && e[k].key < e[k - 1].key; k--)
			exchange(e[k], e[k - 1]);
}
NI double by_reference(geo::Point &a, const geo::Point &b)
{
	a.x += b.y;
	return (a + b).y;
}
NI double areas(geo::Shape *s)
{
	double sum = 0;
	for (; s; s = s->following())
		sum += s->area();
	return sum;
}
NI void grow_all(geo::Shape **s, int n)
{
	for (int i = 0; i < n; i++)
		s[i]->grow(0.5);
}
NI double captured(Entry *e, int n)
{
	double total = 0;
	auto add = [&total, e](int i) __attribute__((noinline)) { total += e[i].value; };
	for (int i = 0; i < n; i++)
		add(i);
	return total;
}
struct Counter {
	long hits, misses;
	NI Counter &hit(int n) { hits += n; return *this; }
	NI Counter &miss() { ++misses; return *this; }
	NI static Counter *of(void *p) { return static_cast<Counter *>(p); }
};
static double value_of(const Entry &e) { return e.value; }
static double number_of(const long &n) { return n; }
namespace {
OWN Counter hidden[3 * PAGE / sizeof(Counter)];
OWN char rest[PAGE];
}
NI void count_hidden(int i) { hidden[i].hit(2).miss(); hidden[i + 200].misses = hidden[i + 400].hits; }

int main(int argc, char **argv)
{
	using namespace geo;
	enum { N = 30 };
	double sum = 0;
	Shape *all[N];
	Box *boxes[N / 2];
	Circle *circles[N / 2];
	truth_scope(&Shape::made, sizeof Shape::made, "{int *made}", "load object");
	for (int i = 0; i < N / 2; i++) {
		void *p = slot(sizeof(Box), 8), *q = slot(sizeof(Circle), 8);
		static_cast<Box *>(p)->tell();
		static_cast<Circle *>(q)->tell();
		all[2 * i] = boxes[i] = new (p) Box(i, 2, 3);
		all[2 * i + 1] = circles[i] = new (q) Circle(i, 1);
	}
	for (int i = 1; i < N; i++) {
		forget(); all[i - 1]->link(all[i]);
	}
	forget(); sum += areas(all[0]);
	forget(); grow_all(all, N);
	for (int i = 0; i < N; i++) {
		forget(); sum += all[i]->identity();
	}
	for (int i = 0; i < N / 2; i++) {
		forget(); boxes[i]->paint(Style::Dotted);
		forget(); sum += boxes[i]->dotted();
		forget(); circles[i]->use();
		forget(); circles[i]->r += circles[i]->uses;
	}

	Numbers *numbers = static_cast<Numbers *>(slot(sizeof *numbers, 8));
	numbers->tell("{class:Ring<long,_12>}.{array[12]:long items} | {class:Ring<long_int,_12>}.{array[12]:long items}",
		"{class:Ring<long*12>}.{unsigned_int head}", "{class:Ring<long*12>}.{unsigned_int used}");
	new (numbers) Numbers;
	Entries *entries[8];
	for (int i = 0; i < 8; i++) {
		entries[i] = static_cast<Entries *>(slot(sizeof *entries[i], 8));
		EACH(entries[i]->first(), key, "{class:Ring<Pair<int,_double>,_9>}.{structure:Pair<int,_double>}.{int key} | {structure:Pair<int,_double>}.{int key}", 9);
		EACH(entries[i]->first(), value, "{class:Ring<Pair<int,_double>,_9>}.{structure:Pair<int,_double>}.{double value} | {structure:Pair<int,_double>}.{double value}", 9);
		entries[i]->tell(0, "{class:Ring<Pair<int,_double>,_9>}.{unsigned_int head}", "{class:Ring<Pair<int,_double>,_9>}.{unsigned_int used}");
		new (entries[i]) Entries;
	}
	for (long i = 0; i < 8; i++) {
		forget(); numbers->put(i);
		Entry e = {(int)i, 0.5};
		for (int k = 0; k < 8; k++) {
			forget(); entries[k]->put(e);
		}
	}
	forget(); sum += numbers->take() + numbers->sum(number_of);
	for (int k = 0; k < 8; k++) {
		forget(); sum += entries[k]->take().value;
		forget(); sum += entries[k]->sum(value_of);
	}

	for (int i = 0; i < 12; i++) {
		Entry *e = static_cast<Entry *>(slot(10 * sizeof *e, 8));
		EACH(e, key, "{structure:Pair<int,_double>}.{int key}", 10);
		EACH(e, value, "{structure:Pair<int,_double>}.{double value}", 10);
		for (int k = 0; k < 10; k++)
			e[k] = Entry{100 - k * 3 % 7, 1.0};
		forget(); sort_keys(made(e), 10);
		forget(); sum += captured(e, 10);
	}
	for (int i = 0; i < 20; i++) {
		Point *a = static_cast<Point *>(slot(sizeof *a, 8)), *b = new (slot(sizeof *b, 8)) Point(1, 2);
		F(a, x, "{structure:geo::Point}.{double x}"); F(a, y, "{structure:geo::Point}.{double y}");
		F(b, x, "{structure:geo::Point}.{double x}"); F(b, y, "{structure:geo::Point}.{double y}");
		// one instruction may write both, and fault at the second
		truth_in(&b->y, sizeof b->y, "{structure:geo::Point}.{double *}", "main");
		forget(); sum += by_reference(*a, *b);
		Counter *c = Counter::of(slot(sizeof *c, 8));
		F(c, hits, "{structure:Counter}.{long hits}"); F(c, misses, "{structure:Counter}.{long misses}");
		forget(); c->hit(i).miss();
	}
	EACH(hidden, hits, "{structure:Counter}.{long hits}", 768);
	EACH(hidden, misses, "{structure:Counter}.{long misses}", 768);
	for (int i = 0; i < 8; i++) {
		blank(hidden, sizeof hidden); count_hidden(i * 11);
	}
	tell();
	return sum == 1 && rest[0];
}
