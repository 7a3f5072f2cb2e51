// A program that includes this says of every page that it touches where it did:
// on which line of which function, called from where. A page fault of perf has the
// page's address, so that each sample has its truth.
#ifdef __cplusplus
extern "C" {
#endif
// The first page of a program is at BASE; a program that another one executes takes another.
void truth_begin(unsigned long base);
void truth_end(void);
// What runs now is in a function: called ('c'), inlined ('i'), the body of a parallel region
// ('b'), or of others, in any number of frames: their callers are on the stack ('*'), or
// may be lost if the stack says so ('?'), or have nothing to do with it ('r').
void truth_enter(char kind, const char *function, const char *file);
void truth_line(int line);
void truth_leave(void);
// The next page, which the caller touches on the line.
volatile char *truth_page(int line);
// The next page, for a function that the caller calls on a line and that calls nothing.
volatile char *truth_leaf(const char *function, const char *file, int line, int call);
// How deep the thread is in functions; longjmp and exceptions return to it.
int truth_depth(void);
void truth_return(int depth);
#ifdef __cplusplus
}
#endif
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone, noipa))
#endif
#define INLINED __attribute__((always_inline)) inline
#define IN(name) truth_enter('c', name, __FILE__)
#define INTO(name) truth_enter('i', name, __FILE__)
#define OUT() truth_leave()
#define CALL(call) (truth_line(__LINE__), (call))
// Calls by code of others.
#define THEIRS(call) (truth_line(__LINE__), truth_enter('*', "", ""), (call), truth_leave())
#define TOUCH(n) for (int touched = 0; touched < (n); touched++) *truth_page(__LINE__) = 1
