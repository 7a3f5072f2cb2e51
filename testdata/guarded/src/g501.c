/* Made by acceptance/members. */
#include "guard.h"
#include <stdbool.h>
#include <string.h>
typedef float v4 __attribute__((vector_size(16)));
typedef unsigned u32;
typedef double real;
static volatile int one = 1;
static long values[8] __attribute__((aligned(16))) = {3};
#define VALUE(t) (*(t *)values)
#define use(x) do { __typeof__(x) used = (x); __asm__ volatile("" : : "r"(&used) : "memory"); } while (0)

struct in3 {
	unsigned m1[2][2];
	u32 m2;
};
struct in7 {
	short b4 : 8;
	short b5 : 7;
	unsigned char b6 : 8;
};
struct s12 {
	v4 m8[3];
	signed char m9[1][3];
	u32 b10 : 27;
	u32  : 5;
	u32 b11 : 5;
};
struct s22 {
	short m13;
	struct {
		union {
			char * m14;
			unsigned long m15[2][4];
			bool m16;
		} ;
		unsigned b17 : 8;
		double m18[1][2];
		unsigned long b19 : 7;
	} ;
	unsigned b20 : 31;
	unsigned  : 8;
	unsigned b21 : 8;
};
struct s28 {
	int m23;
	char * m24;
	char m25;
	unsigned m26;
	unsigned long m27;
};
APART void void_31(void *v, u32 x) { struct s12 *p = (struct s12 *)v; p->b11 = x; }
APART u32 before_32(struct s12 *p) { return p[-1].b11; }
APART void void_34(void *v, u32 x) { struct s12 *p = (struct s12 *)v; p->b10 = x; }
APART int test_37(struct s12 *p) { return p->b10 != (u32)0 ? 3 : 5; }
APART void late_38(struct s12 *p, int n) { u32 v = 0; while (n-- > 0) { v += n; p++; } p->b11 = v; }
APART int flag_40(struct s12 *p) { return (p->b10 & 0x10) != 0; }
APART u32 get_42(struct s12 *p) { return p->b11; }
APART void count_45(struct s12 *p) { p->b11++; }
APART u32 index_49(struct s12 *p, int i) { return p[i].b10; }
APART int less_50(struct s12 *p, u32 v) { return p->b10 < v; }
APART void unsigned_51(struct s12 *p, unsigned i, u32 v) { p[i].b10 = v; }
APART void count_58(struct s12 *p) { p->b11++; }
APART void or_65(struct s12 *p, int v) { p->b11 |= v; }
APART void after_66(struct s12 *p, u32 v) { p[1].b11 = v; }
APART void copy_72(struct s12 *p, struct s12 *q) { p->b11 = q->b11; }
APART int low_82(struct s12 *p) { return (signed char)p->b11; }
APART int byte_83(struct s22 *p) { return ((unsigned char *)&p->m16)[sizeof p->m16 - 1]; }
APART void fill_86(struct s22 *p, int n, bool v) { for (int i = 0; i < n; i++) p[i].m16 = v; }
struct h_heldloop_87 { long pad; struct s22 *p; int n; };
APART void heldloop_87(struct h_heldloop_87 *h) { for (int i = 0; i < h->n; i++) h->p[i].b19 = i; }
APART void move_88(struct s22 *p, void *to) { memcpy(to, &p->m13, sizeof p->m13); }
APART unsigned choose_89(struct s22 *p, struct s22 *q, int c) { struct s22 *o = c ? p : q; return o->b20; }
APART void set_90(struct s22 *p, short v) { p->m13 = v; }
APART void bytes_91(char *b, int n, char * v) { for (int i = 0; i < n; i++) ((struct s22 *)(b + i * sizeof(struct s22)))->m14 = v; }
APART void or_92(struct s22 *p, int v) { p->m13 |= v; }
APART struct s22 *make_made_95(void *v) { return (struct s22 *)v; }
APART void made_95(void *v, short x) { make_made_95(v)->m13 = x; }
APART unsigned get_96(struct s22 *p) { return p->b17; }
APART struct s22 *make_made_97(void *v) { return (struct s22 *)v; }
APART void made_97(void *v, short x) { make_made_97(v)->m13 = x; }
APART void after_100(struct s22 *p, unsigned long v) { p[1].b19 = v; }
APART void volatile_102(volatile struct s22 *p) { p->m14 = p->m14; }
APART void clear_105(struct s22 *p) { p->b20 = 0; }
APART void cast_108(void *v, unsigned long x) { struct s28 *o = (struct s28 *)v; struct s22 *p = (struct s22 *)v; if (!o) return; p->b19 = x; }
APART void number_110(struct s22 *p, int n) { for (int i = 0; i < n; i++) p[i].b21 = i; }
APART unsigned index_112(struct s28 *p, int i) { return p[i].m26; }
APART void fix_114(struct s28 *p) { p->m23 = 1; }
APART void back_115(struct s28 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].m26 += 2; }
APART void clear_118(struct s28 *p) { p->m26 = 0; }
APART void union_119(char *b, int n, char v) { union { struct s12 *x; struct s28 *s; void *v; } u; for (int i = 0; i < n; i++) { u.v = b + sizeof(struct s28) * i; u.s->m25 = v; } }
APART struct s28 *make_made_121(void *v) { return (struct s28 *)v; }
APART void made_121(void *v, unsigned x) { make_made_121(v)->m26 = x; }
APART unsigned long choose_122(struct s28 *p, struct s28 *q, int c) { struct s28 *o = c ? p : q; return o->m27; }
APART void union_124(char *b, int n, unsigned long v) { union { struct s12 *x; struct s28 *s; void *v; } u; for (int i = 0; i < n; i++) { u.v = b + sizeof(struct s28) * i; u.s->m27 = v; } }
APART int byte_125(struct s28 *p) { return ((unsigned char *)&p->m24)[sizeof p->m24 - 1]; }
APART void volatile_128(volatile struct s28 *p) { p->m23 = p->m23; }
APART void count_129(struct s28 *p) { p->m23++; }
APART void walk_130(struct s28 *p, struct s28 *end) { for (; p < end; p++) p->m27 += 2; }
APART void through_131(struct s28 *p, char * v) { char * *q = &p->m24; *q = v; p = 0; }
APART void far_132(char *b, int n, unsigned v) { for (int i = 0; i < n; i++) { struct s28 *p = (struct s28 *)(b + i * sizeof(struct s28)); p->m26 = v; } }
struct s28 *g_global_133;
APART char * global_133(void) { return g_global_133->m24; }
APART int byte_134(struct s28 *p) { return ((unsigned char *)&p->m26)[sizeof p->m26 - 1]; }

int main(void)
{
	guard_start();
	guarded("void_31", "{structure:s12}.{u32=unsigned_int:5 b11}", { void_31(((struct s12 *)OBJECT), VALUE(u32)); });
	guarded("before_32", "{structure:s12}.{u32=unsigned_int:5 b11}", { use(before_32(((struct s12 *)OBJECT) + 1)); });
	guarded("void_34", "{structure:s12}.{u32=unsigned_int:27 b10}", { void_34(((struct s12 *)OBJECT), VALUE(u32)); });
	guarded("test_37", "{structure:s12}.{u32=unsigned_int:27 b10}", { use(test_37(((struct s12 *)OBJECT))); });
	guarded("late_38", "{structure:s12}.{u32=unsigned_int:5 b11}", { late_38(((struct s12 *)OBJECT), one); });
	guarded("flag_40", "{structure:s12}.{u32=unsigned_int:27 b10}", { use(flag_40(((struct s12 *)OBJECT))); });
	guarded("get_42", "{structure:s12}.{u32=unsigned_int:5 b11}", { use(get_42(((struct s12 *)OBJECT))); });
	guarded("count_45", "{structure:s12}.{u32=unsigned_int:5 b11}", { count_45(((struct s12 *)OBJECT)); });
	guarded("index_49", "{structure:s12}.{u32=unsigned_int:27 b10}", { use(index_49(((struct s12 *)OBJECT), 2 * one)); });
	guarded("less_50", "{structure:s12}.{u32=unsigned_int:27 b10}", { use(less_50(((struct s12 *)OBJECT), VALUE(u32))); });
	guarded("unsigned_51", "{structure:s12}.{u32=unsigned_int:27 b10}", { unsigned_51(((struct s12 *)OBJECT), 2 * one, VALUE(u32)); });
	guarded("count_58", "{structure:s12}.{u32=unsigned_int:5 b11}", { count_58(((struct s12 *)OBJECT)); });
	guarded("or_65", "{structure:s12}.{u32=unsigned_int:5 b11}", { or_65(((struct s12 *)OBJECT), one); });
	guarded("after_66", "{structure:s12}.{u32=unsigned_int:5 b11}", { after_66(((struct s12 *)OBJECT), VALUE(u32)); });
	guarded("copy_72", "{structure:s12}.{u32=unsigned_int:5 b11}", { copy_72(((struct s12 *)OBJECT), ((struct s12 *)OTHER)); });
	guarded("low_82", "{structure:s12}.{u32=unsigned_int:5 b11}", { use(low_82(((struct s12 *)OBJECT))); });
	guarded("byte_83", "{structure:s22}.{structure:-}.{union:-}.{*ool m16}", { use(byte_83(((struct s22 *)OBJECT))); });
	guarded("fill_86", "{structure:s22}.{structure:-}.{union:-}.{*ool m16}", { fill_86(((struct s22 *)OBJECT), 3 * one, VALUE(bool)); });
	guarded("heldloop_87", "{structure:s22}.{structure:-}.{unsigned_long:7 b19}", { { struct h_heldloop_87 h = {0, ((struct s22 *)OBJECT), 3 * one}; heldloop_87(&h); }; });
	guarded("move_88", "{structure:s22}.{short m13}", { { char to[64]; move_88(((struct s22 *)OBJECT), to); }; });
	guarded("choose_89", "{structure:s22}.{unsigned_int:31 b20}", { use(choose_89(((struct s22 *)OBJECT), ((struct s22 *)OTHER), one)); });
	guarded("set_90", "{structure:s22}.{short m13}", { set_90(((struct s22 *)OBJECT), VALUE(short)); });
	guarded("bytes_91", "{structure:s22}.{structure:-}.{union:-}.{pointer+char m14}", { bytes_91((char *)((struct s22 *)OBJECT), 3 * one, VALUE(char *)); });
	guarded("or_92", "{structure:s22}.{short m13}", { or_92(((struct s22 *)OBJECT), one); });
	guarded("made_95", "{structure:s22}.{short m13}", { made_95(((struct s22 *)OBJECT), VALUE(short)); });
	guarded("get_96", "{structure:s22}.{structure:-}.{unsigned_int:8 b17}", { use(get_96(((struct s22 *)OBJECT))); });
	guarded("made_97", "{structure:s22}.{short m13}", { made_97(((struct s22 *)OBJECT), VALUE(short)); });
	guarded("after_100", "{structure:s22}.{structure:-}.{unsigned_long:7 b19}", { after_100(((struct s22 *)OBJECT), VALUE(unsigned long)); });
	guarded("volatile_102", "{structure:s22}.{structure:-}.{union:-}.{pointer+char m14}", { volatile_102(((struct s22 *)OBJECT)); });
	guarded("clear_105", "{structure:s22}.{unsigned_int:31 b20}", { clear_105(((struct s22 *)OBJECT)); });
	guarded("cast_108", "{structure:s22}.{structure:-}.{unsigned_long:7 b19}", { cast_108(((struct s22 *)OBJECT), VALUE(unsigned long)); });
	guarded("number_110", "{structure:s22}.{unsigned_int:8 b21}", { number_110(((struct s22 *)OBJECT), 3 * one); });
	guarded("index_112", "{structure:s28}.{unsigned_int m26}", { use(index_112(((struct s28 *)OBJECT), 2 * one)); });
	guarded("fix_114", "{structure:s28}.{int m23}", { fix_114(((struct s28 *)OBJECT)); });
	guarded("back_115", "{structure:s28}.{unsigned_int m26}", { back_115(((struct s28 *)OBJECT), 3 * one); });
	guarded("clear_118", "{structure:s28}.{unsigned_int m26}", { clear_118(((struct s28 *)OBJECT)); });
	guarded("union_119", "{structure:s28}.{char m25} | {char -}", { union_119((char *)((struct s28 *)OBJECT), 2 * one, VALUE(char)); });
	guarded("made_121", "{structure:s28}.{unsigned_int m26}", { made_121(((struct s28 *)OBJECT), VALUE(unsigned)); });
	guarded("choose_122", "{structure:s28}.{unsigned_long m27}", { use(choose_122(((struct s28 *)OBJECT), ((struct s28 *)OTHER), one)); });
	guarded("union_124", "{structure:s28}.{unsigned_long m27}", { union_124((char *)((struct s28 *)OBJECT), 2 * one, VALUE(unsigned long)); });
	guarded("byte_125", "{structure:s28}.{pointer+char m24}", { use(byte_125(((struct s28 *)OBJECT))); });
	guarded("volatile_128", "{structure:s28}.{int m23}", { volatile_128(((struct s28 *)OBJECT)); });
	guarded("count_129", "{structure:s28}.{int m23}", { count_129(((struct s28 *)OBJECT)); });
	guarded("walk_130", "{structure:s28}.{unsigned_long m27}", { walk_130(((struct s28 *)OBJECT), ((struct s28 *)OBJECT) + 3 * one); });
	guarded("through_131", "{structure:s28}.{pointer+char m24} | {pointer+char -}", { through_131(((struct s28 *)OBJECT), VALUE(char *)); });
	guarded("far_132", "{structure:s28}.{unsigned_int m26}", { far_132((char *)((struct s28 *)OBJECT), 3 * one, VALUE(unsigned)); });
	guarded("global_133", "{structure:s28}.{pointer+char m24}", { g_global_133 = ((struct s28 *)OBJECT); use(global_133()); });
	guarded("byte_134", "{structure:s28}.{unsigned_int m26}", { use(byte_134(((struct s28 *)OBJECT))); });
	tell();
	return 0;
}
