/* A program that maps its own text again, in parts and as a whole, and runs
   there: each function works once where it was loaded and once elsewhere. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, UNIT = 60000000 };
#define WORK __attribute__((noipa, aligned(4096)))
typedef long work(long);

/* Registers only: these run at any address. */
#define LOOP long i = n; do __asm__ volatile("" : "+r"(i)); while (--i > 0); return i
WORK long first(long n) { LOOP; }
WORK long second(long n) { LOOP; }
WORK long third(long n) { LOOP; }
WORK long fourth(long n) { LOOP; }

extern long in_library(long);

static ElfW(Addr) base;
static ElfW(Phdr) text;

static int find(struct dl_phdr_info *p, size_t size, void *data) {
  (void)size, (void)data;
  base = p->dlpi_addr;
  for (int i = 0; i < p->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &p->dlpi_phdr[i];
    ElfW(Addr) at = (ElfW(Addr))first - base;
    if (h->p_type == PT_LOAD && h->p_vaddr <= at && at < h->p_vaddr + h->p_filesz) text = *h;
  }
  return 1; /* the program is the first */
}

/* Where a function is in a mapping of the file that begins at an offset. */
static work *at(char *map, long offset, work *f) {
  if (map == MAP_FAILED) { perror("map"); exit(1); }
  long in_file = (ElfW(Addr))f - base - text.p_vaddr + text.p_offset;
  return (work *)(map + in_file - offset);
}

int main(void) {
  dl_iterate_phdr(find, 0);
  int fd = open("/proc/self/exe", O_RDONLY);
  struct stat st;
  fstat(fd, &st);
  long start = text.p_offset & -PAGE, end = (text.p_offset + text.p_filesz + PAGE - 1) & -PAGE;
  const int rx = PROT_READ | PROT_EXEC;
  /* the same text, longer than it is; all of the file and more; one page */
  char *again = mmap(0, end - start + 2 * PAGE, rx, MAP_PRIVATE, fd, start);
  char *whole = mmap(0, st.st_size + 8 * PAGE, rx, MAP_PRIVATE, fd, 0);
  long page = ((ElfW(Addr))third - base - text.p_vaddr + text.p_offset) & -PAGE;
  char *part = mmap(0, PAGE, rx, MAP_PRIVATE, fd, page);
  /* the text itself in three pieces */
  mprotect((void *)fourth, PAGE, rx | PROT_WRITE);
  void *more = dlopen("libplain.so", RTLD_NOW); /* gprofng's collector looks at all mappings again */
  work *plain = more ? (work *)dlsym(more, "in_plain") : 0;
  first(UNIT);
  second(UNIT);
  third(UNIT);
  fourth(UNIT);
  at(again, start, first)(UNIT);
  at(whole, 0, second)(UNIT);
  at(part, page, third)(UNIT);
  in_library(UNIT);
  if (plain) plain(UNIT);
  return 0;
}
