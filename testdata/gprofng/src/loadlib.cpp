// A library that works while it is loaded and unloaded: in a C constructor, a
// static object's constructor and its destructor.
#include "spin.h"
extern "C" NOIPA void helper(void) { SPIN(30); }
extern "C" __attribute__((constructor(101))) NOIPA void initialize(void) { SPIN(50); helper(); }
struct Table { NOIPA Table(int n) { SPIN(n); } NOIPA ~Table() { SPIN(20); } };
static Table table(40);
extern "C" void used(void) { SPIN(10); }
