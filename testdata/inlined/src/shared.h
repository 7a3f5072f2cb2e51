#include "touch.h"
static INLINED void header(int n) { TOUCH(n); }
static inline void both(int n) { TOUCH(n); }
