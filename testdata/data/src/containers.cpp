// Own structures in the containers and pointers of the standard library.
#include "truth.h"
#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <vector>

// Everything that is not large is allocated across pages of its own.
void *operator new(size_t size) { return size < 4096 ? slot(size, 8) : malloc(size); }
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}

struct Item { int count; float price; long code; double weight[2]; };
static void tell_items(const Item *i, size_t n)
{
#define I "{structure:Item}."
	EACH(i, count, I "{int count}", n); EACH(i, price, I "{float price}", n); EACH(i, code, I "{long code}", n);
	EACH(i, weight, I "{array[2]:double weight}", n);
}

NI double sum_of(const std::vector<Item> &v)
{
	double sum = 0;
	for (const Item &i : v)
		sum += i.price * i.count;
	return sum;
}
NI void change(std::vector<Item> &v)
{
	for (size_t i = 0; i < v.size(); i++) {
		v[i].code++;
		v[i].weight[i % 2] = v.size();
	}
}
NI void order(std::vector<Item> &v)
{
	std::sort(v.begin(), v.end(), [](const Item &a, const Item &b) { return a.code > b.code; });
}
NI double owned(const std::vector<std::unique_ptr<Item>> &v)
{
	double sum = 0;
	for (auto &p : v)
		sum += p->weight[1] + p->code;
	return sum;
}
NI int shared(std::shared_ptr<Item> p) { return p->count += 3; }
NI long in_list(std::list<Item> &l)
{
	long sum = 0;
	for (Item &i : l)
		sum += i.code++;
	return sum;
}
NI double in_map(std::map<int, Item> &m, int key)
{
	auto at = m.find(key);
	return at == m.end() ? 0 : at->second.price + at->first;
}
NI float all_of(std::map<int, Item> &m)
{
	float sum = 0;
	for (auto &[key, item] : m)
		sum += item.price + key;
	return sum;
}
NI long numbers(const std::vector<long> &v)
{
	long sum = 0;
	for (long n : v)
		sum += n;
	return sum;
}

int main(int argc, char **)
{
	double sum = 0;
	std::vector<Item> some;
	some.reserve(100);
	tell_items(some.data(), 100);
	for (int i = 0; i < 100; i++)
		some.push_back(Item{i, 1.5f, i * 37 % 100, {1, 2}});
	for (int i = 0; i < 5; i++) {
		forget(); sum += sum_of(some);
		forget(); change(some);
		forget(); order(some);
	}
	std::vector<std::unique_ptr<Item>> pointers;
	pointers.reserve(40);
	truth(pointers.data(), 40 * sizeof pointers[0], "*pointer+structure:Item*");
	for (int i = 0; i < 40; i++) {
		pointers.push_back(std::make_unique<Item>());
		tell_items(pointers.back().get(), 1);
	}
	forget(); sum += owned(pointers);
	for (int i = 0; i < 10; i++) {
		auto p = std::make_shared<Item>();
		tell_items(p.get(), 1);
		// where it is made, it is bytes of what counts it
		truth_in(p.get(), sizeof *p, "{*:std::_Sp_counted*}.*{array[*]:unsigned_char *} | {structure:Item}.*", "main");
		forget(); sum += shared(p);
	}
	std::list<Item> list;
	std::map<int, Item> map;
	for (int i = 0; i < 40; i++) {
		list.push_back(Item{i, 2, i, {}});
		Item &l = list.back(), &m = map[i * 7 % 40];
		truth((char *)&l - 16, 8, "*{pointer+structure:std::__detail::_List_node_base _M_next}");
		truth((char *)&l - 8, 8, "*{pointer+structure:std::__detail::_List_node_base _M_prev}");
		// in nodes of the containers the items are bytes
#define N "{structure:std::*}.{*array[*]:unsigned_char _M_storage}"
		F(&l, count, I "{int count} | " N); F(&l, price, I "{float price} | " N);
		F(&l, code, I "{long code} | " N); F(&l, weight, I "{array[2]:double weight} | " N);
		F(&m, count, "*{structure:Item}.{int count} | " N); F(&m, price, "*{structure:Item}.{float price} | " N);
		F(&m, code, "*{structure:Item}.{long code} | " N); F(&m, weight, "*{structure:Item}.{array[2]:double weight} | " N);
		char *node = (char *)&m - 40;
		truth(node, 4, "*{enumeration:std::_Rb_tree_color _M_color} | *{*=enumeration:std::_Rb_tree_color _M_color}");
		truth(node + 8, 8, "*{*pointer+structure:std::_Rb_tree_node_base _M_parent}");
		truth(node + 16, 8, "*{*pointer+structure:std::_Rb_tree_node_base _M_left}");
		truth(node + 24, 8, "*{*pointer+structure:std::_Rb_tree_node_base _M_right}");
		truth(node + 32, 4, "{structure:std::pair<int_const,_Item>}.{const+int first} | {const+int -} | {int -} | " N);
	}
	forget(); sum += in_list(list);
	for (int i = 0; i < 40; i += 3) {
		forget(); sum += in_map(map, i);
	}
	forget(); sum += all_of(map);
	std::vector<long> longs(3000, argc);
	truth(longs.data(), 3000 * sizeof(long), "{long -} | {const+long -}");
	inner(longs.data(), 3000 * sizeof(long)); sum += numbers(longs);
	tell();
	return sum == 1;
}
