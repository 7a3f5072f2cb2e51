/* The same in a static program without a C library: code of its own chooses tiny and
   tiny2, whose addresses the start of the program puts into the slots. */
#include <elf.h>
static long chosen(long x) { return x * 3 + 1; }
static long chosen2(long x) { return x * 5 + 1; }
static long (*choose(void))(long) { return chosen; }
static long (*choose2(void))(long) { return chosen2; }
long tiny(long) __attribute__((ifunc("choose")));
long tiny2(long) __attribute__((ifunc("choose2")));
volatile long sum;
__attribute__((noinline)) void one(long n) { for (long i = 0; i < n; i++) sum += tiny(i); }
__attribute__((noinline)) void two(long n) { for (long i = 0; i < n; i++) sum += tiny2(i); }
extern const Elf64_Rela __rela_iplt_start[], __rela_iplt_end[];
__attribute__((noinline)) int main(void) {
	for (const Elf64_Rela *r = __rela_iplt_start; r < __rela_iplt_end; r++)
		*(Elf64_Addr *)r->r_offset = ((Elf64_Addr(*)(void))r->r_addend)();
	one(20L * MILLION);
	two(10L * MILLION);
	return 0;
}
__asm__(".globl _start\n_start: xor %ebp,%ebp\n and $-16,%rsp\n call main\n mov $60,%eax\n xor %edi,%edi\n syscall\n .size _start,.-_start\n .type _start,@function");
