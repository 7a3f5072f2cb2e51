// Code in several load objects: libraries, plugins, functions that are chosen or replaced
// when the program is linked.
#define _GNU_SOURCE
#include "truth.h"
#include "linked.h"
#include <dlfcn.h>
#include <stdlib.h>

static volatile int one = 1;

// Has a static function of the same name as each library's.
KEPT static void helper(void) { IN("helper"); TOUCH(1); OUT(); }

// Takes the place of the library's function of this name.
KEPT void replaced(void) { IN("replaced"); TOUCH(2); OUT(); }

KEPT static void fast(void) { IN("fast"); TOUCH(2); OUT(); }
KEPT static void slow(void) { IN("slow"); TOUCH(5); OUT(); }
static void (*choose(void))(void) { return one ? fast : slow; }
void chosen(void) __attribute__((ifunc("choose")));

void called_back(void)
{
	IN("called_back");
	TOUCH(1);
	CALL(helper());
	OUT();
}

__attribute__((constructor)) static void constructed(void)
{
	truth_begin(0x20000000);
	truth_enter('*', "", "");
	IN("constructed");
	TOUCH(3);
	OUT();
	OUT();
}

int main(void)
{
	IN("main");
	CALL(helper());
	CALL(library_call(called_back));
	CALL(library_inline());
	CALL(replaced());
	CALL(chosen());
	void *plugin = dlopen("./plugin.so", RTLD_NOW);
	void (*run)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(plugin, "plugin_run");
	CALL(run(called_back));
	dlclose(plugin);
	plugin = dlopen("./plugin.so", RTLD_NOW);
	run = (void (*)(void (*)(void)))dlsym(plugin, "plugin_run");
	CALL(run(called_back));
	TOUCH(1);
	truth_end();
	return 0;
}
