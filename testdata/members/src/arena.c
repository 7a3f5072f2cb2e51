/* A structure in an arena of bytes. */
#define OF_VARIABLE
#include "watched.h"
#include "ops.h"
#include "task.h"

char arena[4096] __attribute__((aligned(64)));
__asm__(".globl watched\n.set watched, arena + 64");

int main(void)
{
	work((struct task *)(arena + 64));
	tell();
	return 0;
}
