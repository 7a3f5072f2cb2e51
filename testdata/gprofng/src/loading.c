/* Opens a library, uses it, and closes it. */
#include <dlfcn.h>
#include <stdio.h>
#include "spin.h"
NOIPA void *load(const char *name) { void *h = dlopen(name, RTLD_LAZY); if (!h) puts(dlerror()); return h; }
NOIPA int unload(void *h) { return dlclose(h) + 1; }
int main(int argc, char **argv) {
  void *h = load(argv[1]);
  if (!h) return 1;
  void (*used)(void) = (void (*)(void))dlsym(h, "used");
  used();
  int r = unload(h);
  SPIN(15);
  return r - 1;
}
