/* Memory of which every access is a page fault, whose instruction and data address
   perf records. What the accesses of a function mean is said by its name. */
#ifndef GUARD_H
#define GUARD_H
#include "../../data/src/truth.h"
#ifdef __cplusplus
extern "C" {
#endif
/* Maps the memory, and takes the signals. */
void guard_start(void);
/* Whether accesses fault. */
void guard(int on);
#ifdef __cplusplus
}
#endif

#define GUARDED ((char *)0x20000000)
#define GUARDED_SIZE (64 * PAGE)
/* Two objects of any type, with space before and after. */
#define OBJECT (GUARDED + 8 * PAGE + 0x100)
#define OTHER (GUARDED + 32 * PAGE + 0x200)

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, noipa))
#endif

/* What a function accesses there, by the statements, is this object. */
#define guarded(function, descriptors, ...) do { \
	truth_in(GUARDED, GUARDED_SIZE, descriptors, function); guard(1); __VA_ARGS__ guard(0); } while (0)
#endif
