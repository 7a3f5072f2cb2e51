#define NI __attribute__((noinline, noipa))
namespace geo {
struct Empty {};
struct Base { virtual void touch(); long id; };
class Named { public: const char *name; static int count; protected: unsigned flag : 3, kind : 5; };
struct Shape : Base, Named, Empty {
  struct Part { double area; Part *next; enum class Side : short { left, right } side; };
  Part *parts; Shape &(*make)(int);
  int Shape::*which; void (Shape::*act)();
  union { int whole; float real; };
  decltype(nullptr) none;
};
struct Left : virtual Base { int left; };
template <class T, int N> struct Vec { T at[N]; T &operator[](int i) { return at[i]; } };
void Base::touch() {}
int Named::count = 4;
Vec<Shape::Part, 3> vec;
inline Shape *newest;
namespace { struct Hidden { int h; } hidden; }
extern Left only_declared;
}
using Pair = geo::Vec<float, 2>;
static Pair pairs[4];
thread_local geo::Vec<char, 5> letters;
Pair &moved = pairs[1];
geo::Left left;
geo::Shape here;
extern "C" NI geo::Shape *shape_of(geo::Shape &s) { return &s; }
namespace geo {
NI Shape::Part *last(const Shape *shape) { Shape::Part *p = shape->parts; while (p->next) p = p->next; return p; }
}
NI float twice(int n)
{
  struct Local { float f; float both() const { return f + f; } } local{pairs[n].at[0]};
  auto add = [&local, n](float by) { static int uses; uses++; return local.both() + by + n; };
  letters[n] = geo::hidden.h++;
  return add(geo::last(geo::newest)->area) + geo::vec[n].area;
}
