/* Leaves in a library, called through the procedure linkage table. */
__attribute__((noinline)) int tiny(int x) { return x + 1; }
__attribute__((noinline)) int tiny2(int x) { return x ^ 5; }
__attribute__((noinline)) int tiny3(int x) { return x * 3; }
