/* A structure in an object of another one. */
#define OF_VARIABLE
#include "watched.h"
#include "ops.h"
#include "task.h"

struct process { long id; char text[24]; struct task task; double times[3]; };
struct process processes[4] __attribute__((aligned(64)));
__asm__(".globl watched\n.set watched, processes + 120");

int main(void)
{
	_Static_assert(sizeof(struct process) == 88 && __builtin_offsetof(struct process, task) == 32, "where watched is");
	work(&processes[1].task);
	tell();
	return 0;
}
