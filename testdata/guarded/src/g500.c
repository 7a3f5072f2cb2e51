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

struct in7 {
	short b1 : 16;
	void * m2;
	unsigned b3 : 1;
	unsigned b4 : 8;
	unsigned b5 : 22;
	unsigned b6 : 1;
};
struct in11 {
	unsigned b8 : 7;
	char * m9[3][2];
	char * m10;
};
struct s18 {
	char * m12;
	struct in7 m13;
	unsigned char m14;
	long b15 : 7;
	long b16 : 6;
	int b17 : 9;
};
struct s25 {
	struct in7 m19[3];
	struct in11 m20;
	struct some * m21[3][4];
	int m22;
	long m23;
	unsigned char m24[1];
};
struct s31 {
	unsigned long b26 : 8;
	long b27 : 13;
	int b28 : 3;
	int b29 : 8;
	int b30 : 5;
};
APART void around_32(struct s18 *p, int n) { for (int i = 1; i < n; i++) p[i].m13.b1 = p[i - 1].m13.b1 + 1; }
APART void number_33(struct s18 *p, int n) { for (int i = 0; i < n; i++) p[i].b17 = i; }
APART void or_35(struct s18 *p, int v) { p->b16 |= v; }
APART int test_39(struct s18 *p) { return p->m13.b6 != (unsigned)0 ? 3 : 5; }
APART void innerof_41(struct s18 *p, unsigned v) { struct in7 *q = &p->m13; q->b4 = v; }
struct h_held_42 { long pad; struct s18 *p; };
APART void held_42(struct h_held_42 *h, unsigned v) { h->p->m13.b4 = v; }
APART int flag_44(struct s18 *p) { return (p->m13.b5 & 0x10) != 0; }
APART int low_45(struct s18 *p) { return (signed char)p->b17; }
struct h_held_48 { long pad; struct s18 *p; };
APART void held_48(struct h_held_48 *h, unsigned char v) { h->p->m14 = v; }
APART void or_50(struct s18 *p, int v) { p->b16 |= v; }
union u_unionpass_51 { struct s25 *x; struct s18 *s; };
APART void unionpass_51(union u_unionpass_51 u, short v) { u.s->m13.b1 = v; }
APART void set_53(struct s18 *p, unsigned char v) { p->m14 = v; }
APART int index_54(struct s18 *p, int i) { return p[i].b17; }
APART void unsigned_56(struct s18 *p, unsigned i, unsigned v) { p[i].m13.b6 = v; }
APART void around_57(struct s18 *p, int n) { for (int i = 1; i < n; i++) p[i].m13.b5 = p[i - 1].m13.b5 + 1; }
APART void number_59(struct s18 *p, int n) { for (int i = 0; i < n; i++) p[i].b16 = i; }
APART void innerof_62(struct s25 *p, unsigned v) { struct in7 *q = &p->m19[1]; q->b3 = v; }
struct h_unionheld_63 { int tag; union { struct s31 *x; struct s25 *s; } u; };
APART long unionheld_63(struct h_unionheld_63 *h) { return h->u.s->m23; }
APART short get_64(struct s25 *p) { return p->m19[1].b1; }
APART void inner_65(struct in7 *q, unsigned v) { q->b3 = v; }
APART struct s25 *make_made_66(void *v) { return (struct s25 *)v; }
APART void made_66(void *v, unsigned x) { make_made_66(v)->m20.b8 = x; }
APART void far_67(char *b, int n, int v) { for (int i = 0; i < n; i++) { struct s25 *p = (struct s25 *)(b + i * sizeof(struct s25)); p->m22 = v; } }
APART void sink_call_69(unsigned v) { (void)v; __asm__ volatile(""); }
APART void call_69(struct s25 *p) { sink_call_69(p->m19[1].b3); }
APART void or_74(struct s25 *p, int v) { p->m19[1].b3 |= v; }
APART void sink_call_75(unsigned v) { (void)v; __asm__ volatile(""); }
APART void call_75(struct s25 *p) { sink_call_75(p->m19[1].b5); }
APART int high_78(struct s25 *p) { return (p->m20.b8 >> 3) & 3; }
APART void void_80(void *v, unsigned x) { struct s25 *p = (struct s25 *)v; p->m19[1].b6 = x; }
APART void back_82(struct s25 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].m19[1].b3 += 2; }
APART int get_83(struct s25 *p) { return p->m22; }
APART void fix_84(struct s25 *p) { p->m23 = 1; }
APART int flag_85(struct s25 *p) { return (p->m20.b8 & 0x10) != 0; }
APART void set_88(struct s25 *p, unsigned v) { p->m19[1].b3 = v; }
union u_unionpass_89 { struct s18 *x; struct s31 *s; };
APART void unionpass_89(union u_unionpass_89 u, long v) { u.s->b27 = v; }
APART void fix_90(struct s31 *p) { p->b27 = 1; }
static inline void in_inline_91(struct s31 *q, long v) { q->b27 += v; }
APART void inline_91(struct s31 *p, int n) { for (int i = 0; i < n; i++) in_inline_91(p + i, i); }
APART void after_92(struct s31 *p, unsigned long v) { p[1].b26 = v; }
APART void count_93(struct s31 *p) { p->b30++; }
APART int list_94(struct s31 **pp, int i) { return pp[i]->b30; }
APART void cast_95(void *v, unsigned long x) { struct s18 *o = (struct s18 *)v; struct s31 *p = (struct s31 *)v; if (!o) return; p->b26 = x; }
APART int low_96(struct s31 *p) { return (signed char)p->b26; }
APART double sum_99(struct s31 *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i].b30; return s; }
union u_unionpass_101 { struct s18 *x; struct s31 *s; };
APART void unionpass_101(union u_unionpass_101 u, int v) { u.s->b28 = v; }
APART int high_104(struct s31 *p) { return (p->b26 >> 3) & 3; }
APART void late_105(struct s31 *p, int n) { int v = 0; while (n-- > 0) { v += n; p++; } p->b30 = v; }
APART int flag_106(struct s31 *p) { return (p->b28 & 0x10) != 0; }
APART void back_107(struct s31 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].b26 += 2; }
APART int test_108(struct s31 *p) { return p->b27 != (long)0 ? 3 : 5; }
APART int choose_109(struct s31 *p, struct s31 *q, int c) { struct s31 *o = c ? p : q; return o->b30; }

int main(void)
{
	guard_start();
	guarded("around_32", "{structure:s18}.{structure:in7}.{short* b1}", { around_32(((struct s18 *)OBJECT), 4 * one); });
	guarded("number_33", "{structure:s18}.{int:9 b17}", { number_33(((struct s18 *)OBJECT), 3 * one); });
	guarded("or_35", "{structure:s18}.{long:6 b16}", { or_35(((struct s18 *)OBJECT), one); });
	guarded("test_39", "{structure:s18}.{structure:in7}.{unsigned_int:1 b6}", { use(test_39(((struct s18 *)OBJECT))); });
	guarded("innerof_41", "{structure:s18}.{structure:in7}.{unsigned_int:8 b4} | {structure:in7}.{unsigned_int:8 b4}", { innerof_41(((struct s18 *)OBJECT), VALUE(unsigned)); });
	guarded("held_42", "{structure:s18}.{structure:in7}.{unsigned_int:8 b4}", { { struct h_held_42 h = {0, ((struct s18 *)OBJECT)}; held_42(&h, VALUE(unsigned)); }; });
	guarded("flag_44", "{structure:s18}.{structure:in7}.{unsigned_int:22 b5}", { use(flag_44(((struct s18 *)OBJECT))); });
	guarded("low_45", "{structure:s18}.{int:9 b17}", { use(low_45(((struct s18 *)OBJECT))); });
	guarded("held_48", "{structure:s18}.{unsigned_char m14}", { { struct h_held_48 h = {0, ((struct s18 *)OBJECT)}; held_48(&h, VALUE(unsigned char)); }; });
	guarded("or_50", "{structure:s18}.{long:6 b16}", { or_50(((struct s18 *)OBJECT), one); });
	guarded("unionpass_51", "{structure:s18}.{structure:in7}.{short* b1}", { { union u_unionpass_51 u; u.s = ((struct s18 *)OBJECT); unionpass_51(u, VALUE(short)); }; });
	guarded("set_53", "{structure:s18}.{unsigned_char m14}", { set_53(((struct s18 *)OBJECT), VALUE(unsigned char)); });
	guarded("index_54", "{structure:s18}.{int:9 b17}", { use(index_54(((struct s18 *)OBJECT), 2 * one)); });
	guarded("unsigned_56", "{structure:s18}.{structure:in7}.{unsigned_int:1 b6}", { unsigned_56(((struct s18 *)OBJECT), 2 * one, VALUE(unsigned)); });
	guarded("around_57", "{structure:s18}.{structure:in7}.{unsigned_int:22 b5}", { around_57(((struct s18 *)OBJECT), 4 * one); });
	guarded("number_59", "{structure:s18}.{long:6 b16}", { number_59(((struct s18 *)OBJECT), 3 * one); });
	guarded("innerof_62", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3} | {structure:in7}.{unsigned_int:1 b3}", { innerof_62(((struct s25 *)OBJECT), VALUE(unsigned)); });
	guarded("unionheld_63", "{structure:s25}.{long m23}", { { struct h_unionheld_63 h; h.u.s = ((struct s25 *)OBJECT); use(unionheld_63(&h)); }; });
	guarded("get_64", "{structure:s25}.{structure:in7}.{short* b1}", { use(get_64(((struct s25 *)OBJECT))); });
	guarded("inner_65", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3} | {structure:in7}.{unsigned_int:1 b3}", { inner_65(&((struct s25 *)OBJECT)->m19[1], VALUE(unsigned)); });
	guarded("made_66", "{structure:s25}.{structure:in11}.{unsigned_int:7 b8}", { made_66(((struct s25 *)OBJECT), VALUE(unsigned)); });
	guarded("far_67", "{structure:s25}.{int m22}", { far_67((char *)((struct s25 *)OBJECT), 3 * one, VALUE(int)); });
	guarded("call_69", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3}", { call_69(((struct s25 *)OBJECT)); });
	guarded("or_74", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3}", { or_74(((struct s25 *)OBJECT), one); });
	guarded("call_75", "{structure:s25}.{structure:in7}.{unsigned_int:22 b5}", { call_75(((struct s25 *)OBJECT)); });
	guarded("high_78", "{structure:s25}.{structure:in11}.{unsigned_int:7 b8}", { use(high_78(((struct s25 *)OBJECT))); });
	guarded("void_80", "{structure:s25}.{structure:in7}.{unsigned_int:1 b6}", { void_80(((struct s25 *)OBJECT), VALUE(unsigned)); });
	guarded("back_82", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3}", { back_82(((struct s25 *)OBJECT), 3 * one); });
	guarded("get_83", "{structure:s25}.{int m22}", { use(get_83(((struct s25 *)OBJECT))); });
	guarded("fix_84", "{structure:s25}.{long m23}", { fix_84(((struct s25 *)OBJECT)); });
	guarded("flag_85", "{structure:s25}.{structure:in11}.{unsigned_int:7 b8}", { use(flag_85(((struct s25 *)OBJECT))); });
	guarded("set_88", "{structure:s25}.{structure:in7}.{unsigned_int:1 b3}", { set_88(((struct s25 *)OBJECT), VALUE(unsigned)); });
	guarded("unionpass_89", "{structure:s31}.{long:13 b27}", { { union u_unionpass_89 u; u.s = ((struct s31 *)OBJECT); unionpass_89(u, VALUE(long)); }; });
	guarded("fix_90", "{structure:s31}.{long:13 b27}", { fix_90(((struct s31 *)OBJECT)); });
	guarded("inline_91", "{structure:s31}.{long:13 b27}", { inline_91(((struct s31 *)OBJECT), 3 * one); });
	guarded("after_92", "{structure:s31}.{unsigned_long:8 b26}", { after_92(((struct s31 *)OBJECT), VALUE(unsigned long)); });
	guarded("count_93", "{structure:s31}.{int:5 b30}", { count_93(((struct s31 *)OBJECT)); });
	guarded("list_94", "{structure:s31}.{int:5 b30}", { { struct s31 *pp[] = {((struct s31 *)OBJECT), ((struct s31 *)OBJECT) + 1}; use(list_94(pp, one)); }; });
	guarded("cast_95", "{structure:s31}.{unsigned_long:8 b26}", { cast_95(((struct s31 *)OBJECT), VALUE(unsigned long)); });
	guarded("low_96", "{structure:s31}.{unsigned_long:8 b26}", { use(low_96(((struct s31 *)OBJECT))); });
	guarded("sum_99", "{structure:s31}.{int:5 b30}", { use(sum_99(((struct s31 *)OBJECT), 4 * one)); });
	guarded("unionpass_101", "{structure:s31}.{int:3 b28}", { { union u_unionpass_101 u; u.s = ((struct s31 *)OBJECT); unionpass_101(u, VALUE(int)); }; });
	guarded("high_104", "{structure:s31}.{unsigned_long:8 b26}", { use(high_104(((struct s31 *)OBJECT))); });
	guarded("late_105", "{structure:s31}.{int:5 b30}", { late_105(((struct s31 *)OBJECT), one); });
	guarded("flag_106", "{structure:s31}.{int:3 b28}", { use(flag_106(((struct s31 *)OBJECT))); });
	guarded("back_107", "{structure:s31}.{unsigned_long:8 b26}", { back_107(((struct s31 *)OBJECT), 3 * one); });
	guarded("test_108", "{structure:s31}.{long:13 b27}", { use(test_108(((struct s31 *)OBJECT))); });
	guarded("choose_109", "{structure:s31}.{int:5 b30}", { use(choose_109(((struct s31 *)OBJECT), ((struct s31 *)OTHER), one)); });
	tell();
	return 0;
}
