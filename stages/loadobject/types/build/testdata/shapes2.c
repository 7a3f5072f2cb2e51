#include "shapes.h"
struct private { char *second; long third; };
static int shapes = 7;
struct private *of(list_t *l) { return l->private; }
int other(void) { return shapes++; }
struct private mine;
static struct local { short r; } local;
long walk2(void) { return local.r + head.weight; }
