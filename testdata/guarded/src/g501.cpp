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

struct in7 {
	unsigned long m1;
	bool b2 : 1;
	bool b3 : 1;
	short b4 : 3;
	short b5 : 6;
	unsigned b6 : 20;
};
struct in10 {
	double m8;
	long m9[5];
};
struct s17 {
	unsigned long m11[6];
	unsigned b12 : 8;
	unsigned  : 1;
	unsigned b13 : 1;
	unsigned b14 : 6;
	unsigned b15 : 12;
	unsigned b16 : 5;
};
struct s22 {
	u32 m18;
	short b19 : 7;
	v4 m20[4];
	long double m21;
};
struct s30 {
	unsigned m23;
	real m24[5];
	unsigned char m25;
	long b26 : 5;
	long b27 : 64;
	long b28 : 5;
	long b29 : 1;
};
extern "C" APART void void_31(void *v, unsigned x) { struct s17 *p = (struct s17 *)v; p->b13 = x; }
extern "C" APART int same_33(struct s17 *p, struct s17 *q) { return p->b14 == q->b14; }
extern "C" APART void set_34(struct s17 *p, unsigned v) { p->b14 = v; }
extern "C" APART void count_36(struct s17 *p) { p->b15++; }
extern "C" APART void after_39(struct s17 *p, unsigned v) { p[1].b14 = v; }
extern "C" APART int search_41(struct s17 *p, unsigned long v) { for (int i = 0; i < 6; i++) if (p->m11[i] == v) return i; return -1; }
extern "C" APART void copy_42(struct s17 *p, struct s17 *q) { p->b13 = q->b13; }
extern "C" APART void set_43(struct s17 *p, unsigned v) { p->b16 = v; }
extern "C" APART double sum_44(struct s17 *p, int n) { unsigned s = 0; for (int i = 0; i < n; i++) s += p[i].b16; return s; }
union u_unionpass_45 { struct s22 *x; struct s17 *s; };
extern "C" APART void unionpass_45(union u_unionpass_45 u, unsigned v) { u.s->b13 = v; }
struct s17 *g_global_51;
extern "C" APART unsigned global_51(void) { return g_global_51->b15; }
extern "C" APART void back_56(struct s17 *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].b16 += 2; }
extern "C" APART void void_57(void *v, unsigned x) { struct s17 *p = (struct s17 *)v; p->b12 = x; }
extern "C" APART void scale_60(struct s17 *p) { p->b16 *= 3; }
struct h_held_61 { long pad; struct s17 *p; };
extern "C" APART void held_61(struct h_held_61 *h, unsigned v) { h->p->b12 = v; }
extern "C" APART void number_62(struct s17 *p, int n) { for (int i = 0; i < n; i++) p[i].b12 = i; }
extern "C" APART void copy_66(struct s22 *p, struct s22 *q) { p->b19 = q->b19; }
extern "C" APART int same_68(struct s22 *p, struct s22 *q) { return p->m18 == q->m18; }
extern "C" APART u32 get_69(struct s22 *p) { return p->m18; }
extern "C" APART long double before_71(struct s22 *p) { return p[-1].m21; }
struct h_held_75 { long pad; struct s22 *p; };
extern "C" APART void held_75(struct h_held_75 *h, u32 v) { h->p->m18 = v; }
extern "C" APART short index_80(struct s22 *p, int i) { return p[i].b19; }
extern "C" APART void fix_81(struct s22 *p) { p->m18 = 1; }
extern "C" APART void scale_84(struct s22 *p) { p->m21 *= 3; }
extern "C" APART void walk_85(struct s22 *p, struct s22 *end) { for (; p < end; p++) p->m18 += 2; }
extern "C" APART double sum_88(struct s22 *p, int n) { short s = 0; for (int i = 0; i < n; i++) s += p[i].b19; return s; }
extern "C" APART void void_91(void *v, u32 x) { struct s22 *p = (struct s22 *)v; p->m18 = x; }
extern "C" APART void walk_92(struct s22 *p, struct s22 *end) { for (; p < end; p++) p->m18 += 2; }
extern "C" APART int same_94(struct s22 *p, struct s22 *q) { return p->m21 == q->m21; }
extern "C" APART short index_96(struct s22 *p, int i) { return p[i].b19; }
extern "C" APART void through_97(struct s22 *p, long double v) { long double *q = &p->m21; *q = v; p = 0; }
extern "C" APART void copy_98(struct s22 *p, struct s22 *q) { p->m21 = q->m21; }
extern "C" APART double sum_99(struct s30 *p, int n) { long s = 0; for (int i = 0; i < n; i++) s += p[i].b28; return s; }
extern "C" APART void void_101(void *v, long x) { struct s30 *p = (struct s30 *)v; p->b29 = x; }
extern "C" APART void nthset_102(struct s30 *p, long i, real v) { p->m24[i] = v; }
extern "C" APART void set_105(struct s30 *p, unsigned char v) { p->m25 = v; }
extern "C" APART void bytes_106(char *b, int n, unsigned char v) { for (int i = 0; i < n; i++) ((struct s30 *)(b + i * sizeof(struct s30)))->m25 = v; }
extern "C" APART void fill_107(struct s30 *p, int n, long v) { for (int i = 0; i < n; i++) p[i].b29 = v; }
extern "C" APART void sink_call_111(long v) { (void)v; __asm__ volatile(""); }
extern "C" APART void call_111(struct s30 *p) { sink_call_111(p->b28); }
extern "C" APART long list_112(struct s30 **pp, int i) { return pp[i]->b28; }
extern "C" APART struct s30 *make_made_113(void *v) { return (struct s30 *)v; }
extern "C" APART void made_113(void *v, unsigned char x) { make_made_113(v)->m25 = x; }
static inline void in_inline_115(struct s30 *q, long v) { q->b29 += v; }
extern "C" APART void inline_115(struct s30 *p, int n) { for (int i = 0; i < n; i++) in_inline_115(p + i, i); }
extern "C" APART real row_116(struct s30 *p, int j, int i) { return p[j].m24[i]; }
extern "C" APART long index_121(struct s30 *p, int i) { return p[i].b28; }
extern "C" APART long before_122(struct s30 *p) { return p[-1].b29; }
extern "C" APART void take_123(struct s30 *p, struct s30 *q) { memcpy(p->m24, q->m24, sizeof p->m24); }
extern "C" APART int test_124(struct s30 *p) { return p->b26 != (long)0 ? 3 : 5; }
extern "C" APART void walk_126(struct s30 *p, struct s30 *end) { for (; p < end; p++) p->b28 += 2; }

int main(void)
{
	guard_start();
	guarded("void_31", "{structure:s17}.{unsigned_int:1 b13}", { void_31(((struct s17 *)OBJECT), VALUE(unsigned)); });
	guarded("same_33", "{structure:s17}.{unsigned_int:6 b14}", { use(same_33(((struct s17 *)OBJECT), ((struct s17 *)OTHER))); });
	guarded("set_34", "{structure:s17}.{unsigned_int:6 b14}", { set_34(((struct s17 *)OBJECT), VALUE(unsigned)); });
	guarded("count_36", "{structure:s17}.{unsigned_int:12 b15}", { count_36(((struct s17 *)OBJECT)); });
	guarded("after_39", "{structure:s17}.{unsigned_int:6 b14}", { after_39(((struct s17 *)OBJECT), VALUE(unsigned)); });
	guarded("search_41", "{structure:s17}.{array[6]:unsigned_long m11}", { use(search_41(((struct s17 *)OBJECT), VALUE(unsigned long))); });
	guarded("copy_42", "{structure:s17}.{unsigned_int:1 b13}", { copy_42(((struct s17 *)OBJECT), ((struct s17 *)OTHER)); });
	guarded("set_43", "{structure:s17}.{unsigned_int:5 b16}", { set_43(((struct s17 *)OBJECT), VALUE(unsigned)); });
	guarded("sum_44", "{structure:s17}.{unsigned_int:5 b16}", { use(sum_44(((struct s17 *)OBJECT), 4 * one)); });
	guarded("unionpass_45", "{structure:s17}.{unsigned_int:1 b13}", { { union u_unionpass_45 u; u.s = ((struct s17 *)OBJECT); unionpass_45(u, VALUE(unsigned)); }; });
	guarded("global_51", "{structure:s17}.{unsigned_int:12 b15}", { g_global_51 = ((struct s17 *)OBJECT); use(global_51()); });
	guarded("back_56", "{structure:s17}.{unsigned_int:5 b16}", { back_56(((struct s17 *)OBJECT), 3 * one); });
	guarded("void_57", "{structure:s17}.{unsigned_int:8 b12}", { void_57(((struct s17 *)OBJECT), VALUE(unsigned)); });
	guarded("scale_60", "{structure:s17}.{unsigned_int:5 b16}", { scale_60(((struct s17 *)OBJECT)); });
	guarded("held_61", "{structure:s17}.{unsigned_int:8 b12}", { { struct h_held_61 h = {0, ((struct s17 *)OBJECT)}; held_61(&h, VALUE(unsigned)); }; });
	guarded("number_62", "{structure:s17}.{unsigned_int:8 b12}", { number_62(((struct s17 *)OBJECT), 3 * one); });
	guarded("copy_66", "{structure:s22}.{short:7 b19}", { copy_66(((struct s22 *)OBJECT), ((struct s22 *)OTHER)); });
	guarded("same_68", "{structure:s22}.{u32=unsigned_int m18}", { use(same_68(((struct s22 *)OBJECT), ((struct s22 *)OTHER))); });
	guarded("get_69", "{structure:s22}.{u32=unsigned_int m18}", { use(get_69(((struct s22 *)OBJECT))); });
	guarded("before_71", "{structure:s22}.{long_double m21}", { use(before_71(((struct s22 *)OBJECT) + 1)); });
	guarded("held_75", "{structure:s22}.{u32=unsigned_int m18}", { { struct h_held_75 h = {0, ((struct s22 *)OBJECT)}; held_75(&h, VALUE(u32)); }; });
	guarded("index_80", "{structure:s22}.{short:7 b19}", { use(index_80(((struct s22 *)OBJECT), 2 * one)); });
	guarded("fix_81", "{structure:s22}.{u32=unsigned_int m18}", { fix_81(((struct s22 *)OBJECT)); });
	guarded("scale_84", "{structure:s22}.{long_double m21}", { scale_84(((struct s22 *)OBJECT)); });
	guarded("walk_85", "{structure:s22}.{u32=unsigned_int m18}", { walk_85(((struct s22 *)OBJECT), ((struct s22 *)OBJECT) + 3 * one); });
	guarded("sum_88", "{structure:s22}.{short:7 b19}", { use(sum_88(((struct s22 *)OBJECT), 4 * one)); });
	guarded("void_91", "{structure:s22}.{u32=unsigned_int m18}", { void_91(((struct s22 *)OBJECT), VALUE(u32)); });
	guarded("walk_92", "{structure:s22}.{u32=unsigned_int m18}", { walk_92(((struct s22 *)OBJECT), ((struct s22 *)OBJECT) + 3 * one); });
	guarded("same_94", "{structure:s22}.{long_double m21}", { use(same_94(((struct s22 *)OBJECT), ((struct s22 *)OTHER))); });
	guarded("index_96", "{structure:s22}.{short:7 b19}", { use(index_96(((struct s22 *)OBJECT), 2 * one)); });
	guarded("through_97", "{structure:s22}.{long_double m21} | {long_double -}", { through_97(((struct s22 *)OBJECT), VALUE(long double)); });
	guarded("copy_98", "{structure:s22}.{long_double m21}", { copy_98(((struct s22 *)OBJECT), ((struct s22 *)OTHER)); });
	guarded("sum_99", "{structure:s30}.{long:5 b28}", { use(sum_99(((struct s30 *)OBJECT), 4 * one)); });
	guarded("void_101", "{structure:s30}.{long:1 b29}", { void_101(((struct s30 *)OBJECT), VALUE(long)); });
	guarded("nthset_102", "{structure:s30}.{array[5]:real=double m24}", { nthset_102(((struct s30 *)OBJECT), one - 1, VALUE(real)); });
	guarded("set_105", "{structure:s30}.{unsigned_char m25}", { set_105(((struct s30 *)OBJECT), VALUE(unsigned char)); });
	guarded("bytes_106", "{structure:s30}.{unsigned_char m25} | {char -}", { bytes_106((char *)((struct s30 *)OBJECT), 3 * one, VALUE(unsigned char)); });
	guarded("fill_107", "{structure:s30}.{long:1 b29}", { fill_107(((struct s30 *)OBJECT), 3 * one, VALUE(long)); });
	guarded("call_111", "{structure:s30}.{long:5 b28}", { call_111(((struct s30 *)OBJECT)); });
	guarded("list_112", "{structure:s30}.{long:5 b28}", { { struct s30 *pp[] = {((struct s30 *)OBJECT), ((struct s30 *)OBJECT) + 1}; use(list_112(pp, one)); }; });
	guarded("made_113", "{structure:s30}.{unsigned_char m25}", { made_113(((struct s30 *)OBJECT), VALUE(unsigned char)); });
	guarded("inline_115", "{structure:s30}.{long:1 b29}", { inline_115(((struct s30 *)OBJECT), 3 * one); });
	guarded("row_116", "{structure:s30}.{array[5]:real=double m24}", { use(row_116(((struct s30 *)OBJECT), one, 0 * one)); });
	guarded("index_121", "{structure:s30}.{long:5 b28}", { use(index_121(((struct s30 *)OBJECT), 2 * one)); });
	guarded("before_122", "{structure:s30}.{long:1 b29}", { use(before_122(((struct s30 *)OBJECT) + 1)); });
	guarded("take_123", "{structure:s30}.{array[5]:real=double m24}", { take_123(((struct s30 *)OBJECT), ((struct s30 *)OTHER)); });
	guarded("test_124", "{structure:s30}.{long:5 b26}", { use(test_124(((struct s30 *)OBJECT))); });
	guarded("walk_126", "{structure:s30}.{long:5 b28}", { walk_126(((struct s30 *)OBJECT), ((struct s30 *)OBJECT) + 3 * one); });
	tell();
	return 0;
}
