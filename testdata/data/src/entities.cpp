// A simulation in C++: templates of containers and matrices, intrusive pointers,
// virtual and multiple bases, members through pointers, variants, observers.
#include "truth.h"
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

template <class T, class... A> static T *create(A &&...a) { return new (slot(sizeof(T), alignof(T))) T(std::forward<A>(a)...); }

// A vector with a size and an iterator of its own.
template <class T> class Vec {
	T *items = nullptr;
	uint32_t used = 0, room = 0;

public:
	struct Iterator {
		T *at;
		T &operator*() const { return *at; }
		Iterator &operator++() { ++at; return *this; }
		bool operator!=(const Iterator &o) const { return at != o.at; }
	};
	Iterator begin() const { return {items}; }
	Iterator end() const { return {items + used}; }
	T &operator[](uint32_t i) { return items[i]; }
	const T &operator[](uint32_t i) const { return items[i]; }
	uint32_t size() const { return used; }
	void reserve(uint32_t n) { items = static_cast<T *>(slot(n * sizeof(T), 8)); room = n; }
	NI void push(const T &t)
	{
		if (used < room)
			items[used++] = t;
	}
	NI T pop() { return items[--used]; }
	T *data() { return items; }
	void tell(const char *items_are, const char *used_is, const char *room_is)
	{
		F(this, items, items_are); F(this, used, used_is); F(this, room, room_is);
	}
};

template <int R, int C> struct Matrix {
	float at[R][C];
	NI float trace() const
	{
		float sum = 0;
		for (int i = 0; i < R; i++)
			sum += at[i][i % C];
		return sum;
	}
	Matrix operator*(float f) const
	{
		Matrix m;
		for (int i = 0; i < R; i++)
			for (int k = 0; k < C; k++)
				m.at[i][k] = at[i][k] * f;
		return m;
	}
};

template <class T> class Ref {
	T *to;

public:
	Ref(T *t = nullptr) : to(t) { if (to) to->references++; }
	Ref(const Ref &r) : to(r.to) { if (to) to->references++; }
	~Ref() { if (to && --to->references == 0) to->dead = true; }
	Ref &operator=(const Ref &r)
	{
		if (r.to)
			r.to->references++;
		if (to)
			to->references--;
		to = r.to;
		return *this;
	}
	T *operator->() const { return to; }
	explicit operator bool() const { return to; }
};
struct Counted { int references = 0; bool dead = false; };

struct Vector3 { float x, y, z; Vector3 &operator+=(const Vector3 &o) { x += o.x; y += o.y; z += o.z; return *this; } };
struct Mesh : Counted { int triangles; Vector3 low, high; Matrix<4, 4> place; };

class Component {
public:
	virtual ~Component() = default;
	virtual void update(float) = 0;
	uint64_t updates = 0;
	Component *sibling = nullptr;
};
class Body : public Component {
public:
	Vector3 position{}, velocity{1, 2, 3};
	float mass = 2;
	NI void update(float dt) override
	{
		updates++;
		position.x += velocity.x * dt;
		position.y += velocity.y * dt;
		position.z += velocity.z * dt;
	}
	NI float energy() const { return mass * (velocity.x * velocity.x + velocity.y * velocity.y); }
};
class Sprite : public Component {
	Ref<Mesh> mesh;
	short frame = 0;

public:
	explicit Sprite(Mesh *m) : mesh(m) {}
	NI void update(float) override
	{
		frame = frame + 1;
		mesh->triangles--;
	}
	NI float height() const { return mesh->high.z - mesh->low.z; }
	NI void share(const Sprite &o) { mesh = o.mesh; }
	void tell();
};
struct Listener { virtual ~Listener() = default; long heard = 0; NI void hear() { heard += 2; } };
struct Tagged { char tag[12]; int priority = 1; };
class Player : public Tagged, public Listener {
public:
	int lives = 3;
	double score = 0;
	NI void win(double points) { score += points; priority--; }
	NI int rank() const { return lives * 10 + priority; }
};

struct Variant {
	enum class Kind : uint8_t { Integer, Real, Text } kind;
	union { int64_t integer; double real; const char *text; };
	NI double number() const { return kind == Kind::Integer ? static_cast<double>(integer) : real; }
};

struct Entity {
	uint32_t id;
	bool active;
	Component *first = nullptr;
	Vec<Variant> values;
	Vector3 Body::*part = &Body::velocity;
};

NI static void update_all(const Vec<Entity *> &all, float dt)
{
	for (Entity *e : all)
		if (!e->active)
			for (Component *c = e->first; c; c = c->sibling)
				c->update(dt);
}
NI static double total(const Entity &e)
{
	double sum = 0;
	for (const Variant &v : e.values)
		sum += v.number();
	return sum;
}
NI static void assign(Vec<Variant> &v, int n)
{
	for (uint32_t i = 0; i < v.size(); i++)
		if (i % 2) {
			v[i].kind = Variant::Kind::Real;
			v[i].real = n;
		}
}
template <class F> static void each(Vec<Entity *> &all, F f)
{
	for (uint32_t i = 0; i < all.size(); i++)
		f(*all[i]);
}
NI static int activate(Vec<Entity *> &all, uint32_t least)
{
	int n = 0;
	each(all, [&n, least](Entity &e) {
		if (e.id >= least) {
			e.active = true;
			n++;
		}
	});
	return n;
}
NI static Vector3 by_member(Body &b, Vector3 Body::*part, float Vector3::*which)
{
	(b.*part).*which += 1;
	return b.*part;
}
NI static void scale(Mesh &m, float f) { m.place = m.place * f; }
NI static void extend(Mesh *m, const Vector3 &by) { m->high += by; }

#define B(member) "{class:Body}." member
void Sprite::tell()
{
	F(this, mesh, "{class:Sprite}.{class:Ref<Mesh>}.{pointer+structure:Mesh to} | {class:Ref<Mesh>}.{pointer+structure:Mesh to}");
	F(this, frame, "{class:Sprite}.{short frame}");
}
#define COMPONENT(c, name) \
	truth(c, 8, "{class:" name "}.{class:Component}.{*_vptr*Component} | {class:Component}.{*_vptr*Component}"); \
	truth(&(c)->updates, 8, "{class:" name "}.{class:Component}.{uint64_t=*unsigned_long updates} | {class:Component}.{uint64_t=*unsigned_long updates}"); \
	truth(&(c)->sibling, 8, "{class:" name "}.{class:Component}.{pointer+class:Component sibling} | {class:Component}.{pointer+class:Component sibling}")
#define V3(p, m, outer) \
	F(p, m.x, outer "{structure:Vector3}.{float x} | {structure:Vector3}.{float x} | {float -}"); \
	F(p, m.y, outer "{structure:Vector3}.{float y} | {structure:Vector3}.{float y} | {float -}"); \
	F(p, m.z, outer "{structure:Vector3}.{float z} | {structure:Vector3}.{float z} | {float -}")

int main(int argc, char **)
{
	double sum = 0;
	Vec<Entity *> *all = create<Vec<Entity *>>();
	all->tell("{class:Vec<Entity*>}.{pointer+pointer+structure:Entity items}", "{class:Vec<Entity*>}.{uint32_t=*unsigned_int used}", "{class:Vec<Entity*>}.{uint32_t=*unsigned_int room}");
	all->reserve(40);
	truth(all->data(), 320, "{pointer+structure:Entity -}");
	for (int i = 0; i < 24; i++) {
		Entity *e = create<Entity>();
		Body *b = create<Body>();
		Mesh *m = create<Mesh>();
		Sprite *s = create<Sprite>(m);
		e->id = i; e->active = false; e->first = b; b->sibling = s;
		F(e, id, "{structure:Entity}.{uint32_t=*unsigned_int id}"); F(e, active, "{structure:Entity}.{bool active}");
		F(e, first, "{structure:Entity}.{pointer+class:Component first}");
		e->values.tell("*{class:Vec<Variant>}.{pointer+structure:Variant items}", "*{class:Vec<Variant>}.{uint32_t=*unsigned_int used}", "*{class:Vec<Variant>}.{uint32_t=*unsigned_int room}");
		COMPONENT(b, "Body"); COMPONENT(s, "Sprite");
		V3(b, position, B("")); V3(b, velocity, B("")); F(b, mass, B("{float mass}"));
		s->tell();
		F(m, references, "{structure:Mesh}.{structure:Counted}.{int references} | {structure:Counted}.{int references}");
		F(m, triangles, "{structure:Mesh}.{int triangles}"); V3(m, low, "{structure:Mesh}."); V3(m, high, "{structure:Mesh}.");
		F(m, place, "{structure:Mesh}.{structure:Matrix<4,_4>}.{array[4]:array[4]:float at} | {structure:Matrix<4,_4>}.{array[4]:array[4]:float at}");
		e->values.reserve(12);
		EACH(e->values.data(), kind, "{structure:Variant}.{enumeration:Variant::Kind kind}", 12);
		EACH(e->values.data(), integer, "{structure:Variant}.*", 12);
		for (int k = 0; k < 8; k++) {
			Variant v; v.kind = Variant::Kind::Integer; v.integer = k;
			forget(); e->values.push(v);
		}
		forget(); all->push(e);
		forget(); sum += b->energy();
		forget(); sum += s->height();
		forget(); scale(*m, 2);
		forget(); extend(m, Vector3{1, 1, 1});
		forget(); sum += m->place.trace();
		forget(); sum += by_member(*b, i % 2 ? &Body::position : &Body::velocity, i % 3 ? &Vector3::y : &Vector3::x).x;
		if (i > 2) {
			forget(); s->share(*static_cast<Sprite *>((*all)[i - 1]->first->sibling));
		}
		Player *p = create<Player>();
		F(p, priority, "{class:Player}.{structure:Tagged}.{int priority} | {structure:Tagged}.{int priority}");
		F(p, heard, "{class:Player}.{structure:Listener}.{long heard} | {structure:Listener}.{long heard}");
		F(p, lives, "{class:Player}.{int lives}"); F(p, score, "{class:Player}.{double score}");
		forget(); p->win(argc); forget(); sum += p->rank(); forget(); p->hear();
	}
	for (int i = 0; i < 3; i++) {
		forget(); update_all(*all, 0.1f);
		forget(); sum += activate(*all, 22 - i);
		for (int k = 0; k < 24; k += 3) {
			forget(); sum += total(*(*all)[k]);
			forget(); assign((*all)[k]->values, i);
		}
	}
	forget(); sum += all->pop()->id;
	tell();
	return sum == 1;
}
