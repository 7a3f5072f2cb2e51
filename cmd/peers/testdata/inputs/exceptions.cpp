// Exceptions through several frames, destructors, virtual calls and templates.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Guard {
  std::string name;
  explicit Guard(const char *n) : name(n) {}
  ~Guard();
};
static long destroyed;
__attribute__((noinline)) Guard::~Guard() { destroyed += name.size(); }

struct Shape {
  virtual ~Shape() = default;
  virtual double area(int n) const = 0;
};
struct Square : Shape {
  double a;
  explicit Square(double a) : a(a) {}
  double area(int n) const override {
    if (n % 97 == 0) throw std::runtime_error("square");
    return a * a;
  }
};
struct Circle : Shape {
  double r;
  explicit Circle(double r) : r(r) {}
  double area(int n) const override {
    if (n % 89 == 0) throw std::out_of_range("circle");
    return 3 * r * r;
  }
};

template <class T> __attribute__((noinline)) double sum(const std::vector<T> &list, int n) {
  Guard g("sum");
  double total = 0;
  for (const auto &s : list) total += s->area(n);
  return total;
}

__attribute__((noinline)) double caught(const std::vector<std::unique_ptr<Shape>> &list, int n) {
  Guard g("caught");
  try {
    return sum(list, n);
  } catch (const std::out_of_range &e) {
    return e.what()[0];
  }
}

int main() {
  std::vector<std::unique_ptr<Shape>> list;
  for (int i = 0; i < 20; i++)
    if (i % 2) list.push_back(std::make_unique<Square>(i));
    else list.push_back(std::make_unique<Circle>(i));
  std::map<std::string, int> count;
  double total = 0;
  for (int i = 0; i < 900000; i++) {
    try {
      total += caught(list, i);
    } catch (const std::exception &e) {
      count[e.what()]++;
    }
  }
  std::vector<double> values(200000);
  for (size_t i = 0; i < values.size(); i++) values[i] = (i * 2654435761u) % 1000003;
  std::sort(values.begin(), values.end(), [](double a, double b) { return a > b; });
  printf("%f %zu %ld %f\n", total, count.size(), destroyed, values[7]);
}
