// What the program needs that Debian 11 does not have, and older versions of what it has.

// The mathematical functions that have a version of glibc 2.29 differ from the older ones in how they
// report errors to programs that ask for System V's way. These here are hidden: else the loader would
// find them in the program itself, in the place of the library's.
#define OLDER(name, parameters, arguments)                    \
    double older_##name parameters;                           \
    __asm__(".symver older_" #name "," #name "@GLIBC_2.2.5"); \
    __attribute__((visibility("hidden"))) double name parameters { return older_##name arguments; }
OLDER(exp, (double x), (x))
OLDER(log, (double x), (x))
OLDER(log2, (double x), (x))
OLDER(pow, (double x, double y), (x, y))

// DuckDB's library is compiled with GCC 12. These two functions of its C++ library are newer than GCC 10:
// std::__throw_bad_array_new_length() and std::string::reserve(), which is reserve(0).
void __cxa_throw_bad_array_new_length(void);
void _ZSt28__throw_bad_array_new_lengthv(void) { __cxa_throw_bad_array_new_length(); }

#define STRING(method) _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserve##method
void STRING(Em)(void *string, unsigned long capacity);
void STRING(Ev)(void *string) { STRING(Em)(string, 0); }
