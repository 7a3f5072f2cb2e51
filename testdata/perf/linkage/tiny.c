long tiny(long x) { return x * 3 + 1; }
long tiny2(long x) { return x * 5 + 1; }
