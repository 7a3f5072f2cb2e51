/* Made by acceptance/members. */
#include "guard.h"
#include <cstdint>
#include <string.h>
typedef float v4 __attribute__((vector_size(16)));
typedef unsigned u32;
typedef double real;
static volatile int one = 1;
static long values[8] __attribute__((aligned(16))) = {3};
#define VALUE(t) (*(t *)values)
#define use(x) do { __typeof__(x) used = (x); __asm__ volatile("" : : "r"(&used) : "memory"); } while (0)

struct in3 {
	real m1;
	long m2;
};
struct in9 {
	bool m4;
	double _Complex m5[4];
	int b6 : 15;
	int b7 : 15;
	int b8 : 24;
};
struct s16 {
	double _Complex m10;
	float m11;
	unsigned short m12;
	struct in3 m13;
	void * m14;
	struct in9 m15;
};
struct s19 {
	unsigned long b17 : 7;
	unsigned long m18;
};
struct s30 {
	struct in9 m20;
	union {
		long m21;
		long double m22;
		long m23;
		long m24[3][3];
	} ;
	double _Complex m25;
	union {
		char * m26[6];
		unsigned short m27;
		short m28[1][4];
		float m29;
	} ;
};
extern "C" APART void back_31(struct s16 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].m13.m2 += 2; }
struct h_heldloop_32 { long pad; struct s16 *p; int n; };
extern "C" APART void heldloop_32(struct h_heldloop_32 *h) { for (int i = 0; i < h->n; i++) h->p[i].m13.m2 = i; }
struct h_heldloop_34 { long pad; struct s16 *p; int n; };
extern "C" APART void heldloop_34(struct h_heldloop_34 *h) { for (int i = 0; i < h->n; i++) h->p[i].m15.b7 = i; }
extern "C" APART void fill_42(struct s16 *p, int n, long v) { for (int i = 0; i < n; i++) p[i].m13.m2 = v; }
extern "C" APART void volatile_48(volatile struct s16 *p) { p->m14 = p->m14; }
extern "C" APART struct s16 *make_made_49(void *v) { return (struct s16 *)v; }
extern "C" APART void made_49(void *v, real x) { make_made_49(v)->m13.m1 = x; }
struct h_heldloop_50 { long pad; struct s16 *p; int n; };
extern "C" APART void heldloop_50(struct h_heldloop_50 *h) { for (int i = 0; i < h->n; i++) h->p[i].m13.m1 = i; }
extern "C" APART void fix_52(struct s16 *p) { p->m15.b6 = 1; }
extern "C" APART double sum_53(struct s16 *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i].m11; return s; }
extern "C" APART void sink_call_54(real v) { (void)v; __asm__ volatile(""); }
extern "C" APART void call_54(struct s16 *p) { sink_call_54(p->m13.m1); }
extern "C" APART void fix_59(struct s16 *p) { p->m11 = 1; }
extern "C" APART void through_60(struct s16 *p, real v) { real *q = &p->m13.m1; *q = v; p = 0; }
extern "C" APART void sink_call_61(unsigned short v) { (void)v; __asm__ volatile(""); }
extern "C" APART void call_61(struct s16 *p) { sink_call_61(p->m12); }
extern "C" APART void back_62(struct s16 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].m12 += 2; }
extern "C" APART float outside_64(struct in3 *q) { return ((struct s16 *)((char *)q - __builtin_offsetof(struct s16, m13)))->m11; }
extern "C" APART int test_65(struct s16 *p) { return p->m13.m2 != (long)0 ? 3 : 5; }
extern "C" APART void fill_66(struct s19 *p, int n, unsigned long v) { for (int i = 0; i < n; i++) p[i].b17 = v; }
extern "C" APART void scale_67(struct s19 *p) { p->b17 *= 3; }
extern "C" APART int byte_69(struct s19 *p) { return ((unsigned char *)&p->m18)[sizeof p->m18 - 1]; }
static inline void in_inline_70(struct s19 *q, unsigned long v) { q->b17 += v; }
extern "C" APART void inline_70(struct s19 *p, int n) { for (int i = 0; i < n; i++) in_inline_70(p + i, i); }
extern "C" APART unsigned long choose_71(struct s19 *p, struct s19 *q, int c) { struct s19 *o = c ? p : q; return o->m18; }
extern "C" APART void set_73(struct s19 *p, unsigned long v) { p->m18 = v; }
extern "C" APART void walk_74(struct s19 *p, struct s19 *end) { for (; p < end; p++) p->m18 += 2; }
extern "C" APART unsigned long list_77(struct s19 **pp, int i) { return pp[i]->b17; }
struct s19 *g_global_78;
extern "C" APART unsigned long global_78(void) { return g_global_78->m18; }
extern "C" APART int high_79(struct s19 *p) { return (p->b17 >> 3) & 3; }
extern "C" APART int low_80(struct s19 *p) { return (signed char)p->m18; }
extern "C" APART void walk_81(struct s19 *p, struct s19 *end) { for (; p < end; p++) p->m18 += 2; }
extern "C" APART void scale_82(struct s19 *p) { p->m18 *= 3; }
extern "C" APART void cast_83(void *v, unsigned long x) { struct s30 *o = (struct s30 *)v; struct s19 *p = (struct s19 *)v; if (!o) return; p->m18 = x; }
extern "C" APART void count_88(struct s19 *p) { p->m18++; }
struct h_held_89 { long pad; struct s19 *p; };
extern "C" APART void held_89(struct h_held_89 *h, unsigned long v) { h->p->m18 = v; }
struct h_heldloop_90 { long pad; struct s30 *p; int n; };
extern "C" APART void heldloop_90(struct h_heldloop_90 *h) { for (int i = 0; i < h->n; i++) h->p[i].m29 = i; }
extern "C" APART double sum_91(struct s30 *p, int n) { long double s = 0; for (int i = 0; i < n; i++) s += p[i].m22; return s; }
extern "C" APART long list_93(struct s30 **pp, int i) { return pp[i]->m21; }
extern "C" APART double sum_94(struct s30 *p, int n) { long s = 0; for (int i = 0; i < n; i++) s += p[i].m21; return s; }
extern "C" APART void through_101(struct s30 *p, long double v) { long double *q = &p->m22; *q = v; p = 0; }
extern "C" APART int less_105(struct s30 *p, int v) { return p->m20.b7 < v; }
extern "C" APART int less_109(struct s30 *p, int v) { return p->m20.b6 < v; }
extern "C" APART void add_113(struct s30 *p, unsigned short v) { p->m27 += v; }
struct h_unionheld_114 { int tag; union { struct s16 *x; struct s30 *s; } u; };
extern "C" APART long unionheld_114(struct h_unionheld_114 *h) { return h->u.s->m21; }
extern "C" APART long index_115(struct s30 *p, int i) { return p[i].m21; }
extern "C" APART void move_116(struct s30 *p, void *to) { memcpy(to, &p->m27, sizeof p->m27); }
extern "C" APART unsigned short list_117(struct s30 **pp, int i) { return pp[i]->m27; }
extern "C" APART void copy_118(struct s30 *p, struct s30 *q) { p->m20.b6 = q->m20.b6; }
extern "C" APART void sink_call_122(int v) { (void)v; __asm__ volatile(""); }
extern "C" APART void call_122(struct s30 *p) { sink_call_122(p->m20.b6); }
extern "C" APART void move_125(struct s30 *p, void *to) { memcpy(to, &p->m25, sizeof p->m25); }
extern "C" APART void around_128(struct s30 *p, int n) { for (int i = 1; i < n; i++) p[i].m20.b7 = p[i - 1].m20.b7 + 1; }

int main(void)
{
	guard_start();
	guarded("back_31", "{structure:s16}.{structure:in3}.{long m2}", { back_31(((struct s16 *)OBJECT), 3 * one); });
	guarded("heldloop_32", "{structure:s16}.{structure:in3}.{long m2}", { { struct h_heldloop_32 h = {0, ((struct s16 *)OBJECT), 3 * one}; heldloop_32(&h); }; });
	guarded("heldloop_34", "{structure:s16}.{structure:in9}.{int:15 b7}", { { struct h_heldloop_34 h = {0, ((struct s16 *)OBJECT), 3 * one}; heldloop_34(&h); }; });
	guarded("fill_42", "{structure:s16}.{structure:in3}.{long m2}", { fill_42(((struct s16 *)OBJECT), 3 * one, VALUE(long)); });
	guarded("volatile_48", "{structure:s16}.{pointer+void m14}", { volatile_48(((struct s16 *)OBJECT)); });
	guarded("made_49", "{structure:s16}.{structure:in3}.{real=double m1}", { made_49(((struct s16 *)OBJECT), VALUE(real)); });
	guarded("heldloop_50", "{structure:s16}.{structure:in3}.{real=double m1}", { { struct h_heldloop_50 h = {0, ((struct s16 *)OBJECT), 3 * one}; heldloop_50(&h); }; });
	guarded("fix_52", "{structure:s16}.{structure:in9}.{int:15 b6}", { fix_52(((struct s16 *)OBJECT)); });
	guarded("sum_53", "{structure:s16}.{float m11}", { use(sum_53(((struct s16 *)OBJECT), 4 * one)); });
	guarded("call_54", "{structure:s16}.{structure:in3}.{real=double m1}", { call_54(((struct s16 *)OBJECT)); });
	guarded("fix_59", "{structure:s16}.{float m11}", { fix_59(((struct s16 *)OBJECT)); });
	guarded("through_60", "{structure:s16}.{structure:in3}.{real=double m1} | {real=double -}", { through_60(((struct s16 *)OBJECT), VALUE(real)); });
	guarded("call_61", "{structure:s16}.{unsigned_short m12}", { call_61(((struct s16 *)OBJECT)); });
	guarded("back_62", "{structure:s16}.{unsigned_short m12}", { back_62(((struct s16 *)OBJECT), 3 * one); });
	guarded("outside_64", "{structure:s16}.{float m11}", { use(outside_64(&((struct s16 *)OBJECT)->m13)); });
	guarded("test_65", "{structure:s16}.{structure:in3}.{long m2}", { use(test_65(((struct s16 *)OBJECT))); });
	guarded("fill_66", "{structure:s19}.{unsigned_long:7 b17}", { fill_66(((struct s19 *)OBJECT), 3 * one, VALUE(unsigned long)); });
	guarded("scale_67", "{structure:s19}.{unsigned_long:7 b17}", { scale_67(((struct s19 *)OBJECT)); });
	guarded("byte_69", "{structure:s19}.{unsigned_long m18}", { use(byte_69(((struct s19 *)OBJECT))); });
	guarded("inline_70", "{structure:s19}.{unsigned_long:7 b17}", { inline_70(((struct s19 *)OBJECT), 3 * one); });
	guarded("choose_71", "{structure:s19}.{unsigned_long m18}", { use(choose_71(((struct s19 *)OBJECT), ((struct s19 *)OTHER), one)); });
	guarded("set_73", "{structure:s19}.{unsigned_long m18}", { set_73(((struct s19 *)OBJECT), VALUE(unsigned long)); });
	guarded("walk_74", "{structure:s19}.{unsigned_long m18}", { walk_74(((struct s19 *)OBJECT), ((struct s19 *)OBJECT) + 3 * one); });
	guarded("list_77", "{structure:s19}.{unsigned_long:7 b17}", { { struct s19 *pp[] = {((struct s19 *)OBJECT), ((struct s19 *)OBJECT) + 1}; use(list_77(pp, one)); }; });
	guarded("global_78", "{structure:s19}.{unsigned_long m18}", { g_global_78 = ((struct s19 *)OBJECT); use(global_78()); });
	guarded("high_79", "{structure:s19}.{unsigned_long:7 b17}", { use(high_79(((struct s19 *)OBJECT))); });
	guarded("low_80", "{structure:s19}.{unsigned_long m18}", { use(low_80(((struct s19 *)OBJECT))); });
	guarded("walk_81", "{structure:s19}.{unsigned_long m18}", { walk_81(((struct s19 *)OBJECT), ((struct s19 *)OBJECT) + 3 * one); });
	guarded("scale_82", "{structure:s19}.{unsigned_long m18}", { scale_82(((struct s19 *)OBJECT)); });
	guarded("cast_83", "{structure:s19}.{unsigned_long m18}", { cast_83(((struct s19 *)OBJECT), VALUE(unsigned long)); });
	guarded("count_88", "{structure:s19}.{unsigned_long m18}", { count_88(((struct s19 *)OBJECT)); });
	guarded("held_89", "{structure:s19}.{unsigned_long m18}", { { struct h_held_89 h = {0, ((struct s19 *)OBJECT)}; held_89(&h, VALUE(unsigned long)); }; });
	guarded("heldloop_90", "{structure:s30}.{union:-}.{float m29}", { { struct h_heldloop_90 h = {0, ((struct s30 *)OBJECT), 3 * one}; heldloop_90(&h); }; });
	guarded("sum_91", "{structure:s30}.{union:-}.{long_double m22}", { use(sum_91(((struct s30 *)OBJECT), 4 * one)); });
	guarded("list_93", "{structure:s30}.{union:-}.{long m21}", { { struct s30 *pp[] = {((struct s30 *)OBJECT), ((struct s30 *)OBJECT) + 1}; use(list_93(pp, one)); }; });
	guarded("sum_94", "{structure:s30}.{union:-}.{long m21}", { use(sum_94(((struct s30 *)OBJECT), 4 * one)); });
	guarded("through_101", "{structure:s30}.{union:-}.{long_double m22} | {long_double -}", { through_101(((struct s30 *)OBJECT), VALUE(long double)); });
	guarded("less_105", "{structure:s30}.{structure:in9}.{int:15 b7}", { use(less_105(((struct s30 *)OBJECT), VALUE(int))); });
	guarded("less_109", "{structure:s30}.{structure:in9}.{int:15 b6}", { use(less_109(((struct s30 *)OBJECT), VALUE(int))); });
	guarded("add_113", "{structure:s30}.{union:-}.{unsigned_short m27}", { add_113(((struct s30 *)OBJECT), VALUE(unsigned short)); });
	guarded("unionheld_114", "{structure:s30}.{union:-}.{long m21}", { { struct h_unionheld_114 h; h.u.s = ((struct s30 *)OBJECT); use(unionheld_114(&h)); }; });
	guarded("index_115", "{structure:s30}.{union:-}.{long m21}", { use(index_115(((struct s30 *)OBJECT), 2 * one)); });
	guarded("move_116", "{structure:s30}.{union:-}.{unsigned_short m27}", { { char to[64]; move_116(((struct s30 *)OBJECT), to); }; });
	guarded("list_117", "{structure:s30}.{union:-}.{unsigned_short m27}", { { struct s30 *pp[] = {((struct s30 *)OBJECT), ((struct s30 *)OBJECT) + 1}; use(list_117(pp, one)); }; });
	guarded("copy_118", "{structure:s30}.{structure:in9}.{int:15 b6}", { copy_118(((struct s30 *)OBJECT), ((struct s30 *)OTHER)); });
	guarded("call_122", "{structure:s30}.{structure:in9}.{int:15 b6}", { call_122(((struct s30 *)OBJECT)); });
	guarded("move_125", "{structure:s30}.{*complex*double* m25}", { { char to[64]; move_125(((struct s30 *)OBJECT), to); }; });
	guarded("around_128", "{structure:s30}.{structure:in9}.{int:15 b7}", { around_128(((struct s30 *)OBJECT), 4 * one); });
	tell();
	return 0;
}
