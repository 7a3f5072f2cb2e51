/* Two builds of one program, which differ in the names of their functions and in
   what those do, but not in size. */
#if VERSION == 1
#define more one_more
#define less one_less
enum { MORE = 3, LESS = 1 };
#else
#define more two_more
#define less two_less
enum { MORE = 1, LESS = 3 };
#endif
enum { UNIT = 30000000 };

#define LOOP long i = n; do __asm__ volatile("" : "+r"(i)); while (--i > 0); return i
__attribute__((noipa)) long more(long n) { LOOP; }
__attribute__((noipa)) long less(long n) { LOOP; }

int main(void) { return (int)(more(MORE * UNIT) + less(LESS * UNIT)); }
