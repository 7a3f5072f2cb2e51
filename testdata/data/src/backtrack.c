/* Code around accesses to memory, instruction by instruction: NAME_load accesses,
   NAME_leaf is where a counter that skids stands. It is not run: what a counter
   records of it is composed. */
#define CODE(text) __asm__(text)
#define NAKED __attribute__((naked, noipa))

struct pair { int low, high; };
struct cell { long count; double weight; struct cell *next; struct pair pair; };
struct cell table[100];
int scalar;
long numbers[50];
__attribute__((used)) static struct cell hidden;

NAKED long straight(struct cell *c, long n) { CODE("straight_load: mov (%rdi), %rax\n straight_leaf: add %rsi, %rax\n ret"); }
NAKED double skids(struct cell *c, long n)
{
	CODE("skids_load: movsd 8(%rdi), %xmm0\n add %rsi, %rsi\n imul $3, %rsi, %rsi\n lea 5(%rsi), %rax\n skids_leaf: cvtsi2sd %rax, %xmm1\n ret");
}
/* Code elsewhere jumps between the access and the leaf. */
NAKED long crosses(struct cell *c, long n)
{
	CODE("crosses_load: mov 16(%rdi), %rax\n 1: add %rsi, %rax\n crosses_leaf: dec %rsi\n jnz 1b\n ret");
}
NAKED long calls(struct cell *c, long n) { CODE("calls_load: mov 24(%rdi), %eax\n call straight\n calls_leaf: add %rsi, %rax\n ret"); }
NAKED long far(struct cell *c, long n) { CODE("far_load: mov 28(%rdi), %eax\n .rept 60\n add %rsi, %rax\n .endr\n far_leaf: ret"); }
/* The register that the access counts from is loaded by it. */
NAKED struct cell *changes(struct cell *c) { CODE("changes_load: mov 16(%rdi), %rdi\n changes_leaf: mov %rdi, %rax\n ret"); }
NAKED long untyped(void *p) { CODE("untyped_load: mov (%rdi), %rax\n untyped_leaf: inc %rax\n ret"); }
NAKED long spills(long a) { CODE("spills_store: mov %rdi, -16(%rsp)\n inc %rdi\n spills_load: mov -16(%rsp), %rax\n spills_leaf: add %rdi, %rax\n ret"); }
NAKED long computes(struct cell *c, long n) { CODE("computes_add: add %rsi, %rsi\n computes_leaf: mov %rsi, %rax\n ret"); }
NAKED int global(long n) { CODE("global_load: mov scalar(%rip), %eax\n global_leaf: add %edi, %eax\n ret"); }
NAKED long element(long n) { CODE("element_load: mov numbers(,%rdi,8), %rax\n element_leaf: inc %rax\n ret"); }
NAKED void statics(int n) { CODE("statics_store: mov %edi, hidden+28(%rip)\n statics_leaf: ret"); }
/* Two pointers: the data address tells nothing, the instruction all. */
NAKED double both(struct cell *c, double *d) { CODE("both_load: movsd (%rsi), %xmm0\n addsd 8(%rdi), %xmm0\n both_leaf: ret"); }
/* Code of which the debug information has nothing. */
CODE(".type bare, @function\n  bare: bare_load: mov (%rdi), %rax\n bare_leaf: inc %rax\n ret\n .size bare, .-bare\n");

void _start(void)
{
	hidden.count = table[0].count + numbers[0] + scalar;
}
