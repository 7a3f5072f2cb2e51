/* A structure with a link in it, what is done to its members, and to what the link
   is in. Bit fields lie behind an array of bytes. */
struct list { struct list *next, *prev; };
struct task { int pid; char name[3]; unsigned char state : 3, class : 5; struct list link; unsigned ready : 1, level : 11, rest : 20; float load; };

#define MEMBERS \
	M(pid, pid, "{int pid}", int) M(state, state, "{unsigned_char:3 state}", unsigned) M(class, class, "{unsigned_char:5 class}", unsigned) \
	M(ready, ready, "{unsigned_int:1 ready}", unsigned) M(level, level, "{unsigned_int:11 level}", unsigned) \
	M(rest, rest, "{unsigned_int:20 rest}", unsigned) M(load, load, "{float load}", float) M(name, name[1], "{array[3]:char name}", char)
#define M(n, m, d, c) OPS(n, struct task, m, c)
MEMBERS
#undef M
#define T "{structure:task}."

/* Through the link. */
#define TASK(l) ((struct task *)((char *)(l) - __builtin_offsetof(struct task, link)))
APART int pid_of(struct list *l) { return TASK(l)->pid; }
APART void load_of(struct list *l) { TASK(l)->load = 2; }
APART struct list *next_of(struct task *t) { return t->link.next; }
APART int pid_behind(struct task *t) { return TASK(t->link.next)->pid; }
APART void unlink_it(struct task *t) { t->link.next = t->link.prev = 0; }
APART void link_it(struct task *t) { t->link.next = t->link.prev = &t->link; }

static void work(struct task *p)
{
	static struct task other;
#define M(n, m, d, c) TRUTHS(n, T d) RUN(n, p, &other)
	MEMBERS
#undef M
	ONLY(pid_of, T "{int pid}"); ONLY(load_of, T "{float load}");
	ONLY(next_of, T "{structure:list}.{pointer+structure:list next}");
	truth_in(p, 4, T "{int pid}", "pid_behind");
	truth_in(&p->link.next, 8, T "{structure:list}.{pointer+structure:list next}", "pid_behind");
	const char *both[] = {"link_it", "unlink_it"};
	for (int i = 0; i < 2; i++) {
		truth_in(&p->link.next, 8, T "{structure:list}.{pointer+structure:list next}", both[i]);
		truth_in(&p->link.prev, 8, T "{structure:list}.{pointer+structure:list prev}", both[i]);
	}
	link_it(p); sink += pid_of(&p->link) + pid_behind(p) + (next_of(p) != 0); load_of(&p->link); unlink_it(p);
}
