/* What the programs say about their own data: which bytes belong to which data
   object. It is compiled without debug information. */
#ifndef TRUTH_H
#define TRUTH_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The bytes from address on belong to the object of this descriptor, whose stars
   stand for any text. Several descriptors are separated by ` | `: any of them is
   right. Scope, unless it is empty, is the object's. */
void truth_scope(const volatile void *address, size_t size, const char *descriptor, const char *scope);
void truth(const volatile void *address, size_t size, const char *descriptor);
/* The same for n of them that are stride bytes apart. */
void truth_each(const volatile void *address, size_t size, const char *descriptor, size_t n, size_t stride);
/* The same, as one function sees them. */
void truth_in(const volatile void *address, size_t size, const char *descriptor, const char *function);
/* Prints all of it; the last thing that a program does. */
void tell(void);

/* Memory for an object, of zeros. It lies across a boundary of pages, at another
   place of the object each time. */
void *slot(size_t size, size_t align);
/* Makes all slots fresh: their content stays, but the next access to each page faults. */
void forget(void);
/* Makes the pages of other memory fresh, and zero; inner only those that have nothing else. */
void inner(volatile void *address, size_t size);
void blank(volatile void *address, size_t size);

#ifdef __cplusplus
}
#endif

#define PAGE 4096
#define OWN __attribute__((aligned(PAGE)))
#define NI __attribute__((noinline))
#define EACH(p, member, descriptor, n) truth_each(&(p)->member, sizeof (p)->member, descriptor, n, sizeof *(p))
#define F(p, member, descriptor) truth(&(p)->member, sizeof (p)->member, descriptor)
#endif
