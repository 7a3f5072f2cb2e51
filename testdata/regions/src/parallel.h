// TOUCHES writes to pages that nothing has touched, also from several threads at once: page
// faults whose PCs are in the function that the macro is in.
#include "../../inlined/src/touch.h"
#define TOUCHES(n) \
	do { \
		for (int i_ = 0; i_ < (n); i_++) { \
			unsigned long page_ = 4096; \
			__asm__ volatile("lock xaddq %0, 0x10000000\n\tmovb $1, (%0)" : "+r"(page_) : : "memory", "cc"); \
		} \
	} while (0)
#ifdef LTO // gcc inlines bodies as their functions, whose attribute they have, and fails
#undef INLINED
#define INLINED inline
#endif
