/* What others found wrong: bytes of bit fields before an array of bytes, unions of
   pointers, and pointers of several types to one object. */
#include "guard.h"

struct flags { unsigned flag : 3, rest : 29; char pad[60]; };
struct parts { long key; unsigned lo : 8, mid : 8, hi : 16; char pad[48]; };
struct first { long one, two, three; }; struct second { int a, b; double c, d; };
struct either { int kind; union { struct first *first; struct second *second; } of; };
union pointers { struct first *first; struct second *second; };
struct rows { int before[4]; int row[4]; float after[4]; };

APART void set_flag(struct flags *p, int n) { for (int i = 0; i < n; i++) p[i].flag = i; }
APART void set_mid(struct parts *p, int n) { for (int i = 0; i < n; i++) p[i].mid = i; }
APART int get_mid(struct parts *p, int i) { return p[i].mid; }
APART void by_union(char *base, int n) { union { struct first *first; struct second *second; void *any; } u; for (int i = 0; i < n; i++) { u.any = base + i * 64; u.second->d = 1; } }
APART void by_passed(union pointers u) { u.second->d = 1; }
APART double by_held(struct either *e) { return e->of.second->c; }
APART void by_bytes(char *base, int n) { for (int i = 0; i < n; i++) ((struct second *)(base + i * 64))->c = i; }
APART void next(struct second *p) { p[1].b = 3; }
APART void shifted(struct rows *p, int n) { for (int i = 1; i <= n; i++) p->row[i - 1] = i; }
APART void copied(struct second *p, struct second *q) { *p = *q; }

int main(void)
{
	struct either e = {1, {OBJECT}};
	guard_start();
	guarded("set_flag", "{structure:flags}.{unsigned_int:3 flag}", set_flag((struct flags *)OBJECT, 5););
	guarded("set_mid", "{structure:parts}.{unsigned_int:8 mid}", set_mid((struct parts *)OBJECT, 5););
	guarded("get_mid", "{structure:parts}.{unsigned_int:8 mid}", get_mid((struct parts *)OBJECT, 2););
	guarded("by_union", "{structure:second}.{double d}", by_union(OBJECT, 5););
	guarded("by_passed", "{structure:second}.{double d}", { union pointers u = {OBJECT}; by_passed(u); });
	guarded("by_held", "{structure:second}.{double c}", by_held(&e););
	guarded("by_bytes", "{structure:second}.{double c}", by_bytes(OBJECT, 5););
	guarded("next", "{structure:second}.{int b}", next((struct second *)OBJECT););
	guarded("shifted", "{structure:rows}.{array[4]:int row}", shifted((struct rows *)OBJECT, 4););
	guarded("copied", "{structure:second}.{*}", copied((struct second *)OBJECT, (struct second *)OTHER););
	tell();
	return 0;
}
