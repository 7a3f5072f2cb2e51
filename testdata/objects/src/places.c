/* Code that is in no file that can be found again: each in_X calls a loop that
   was copied to where its name says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))
enum { PAGE = 4096, UNIT = 60000000 };

/* push rbp; mov rbp,rsp; mov rax,rdi; 1: dec rax; jnz 1b; pop rbp; ret */
static const unsigned char LOOP[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0x5d, 0xc3 };

typedef void loop(long);

static loop *put(void *page) {
  if (page == MAP_FAILED) { perror("map"); exit(1); }
  memcpy(page, LOOP, sizeof LOOP);
  mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
  return (loop *)page;
}

static loop *put_file(int fd) {
  if (fd < 0 || ftruncate(fd, PAGE) != 0 || pwrite(fd, LOOP, sizeof LOOP, 0) < 0) { perror("file"); exit(1); }
  return put(mmap(0, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0));
}

NOIPA void in_memfd(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_deleted(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_zero(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_shm(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_anonymous(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_heap(loop *f) { f(UNIT); __asm__ volatile(""); }
NOIPA void in_stack(loop *f) { f(UNIT); __asm__ volatile(""); }

int main(void) {
  char name[] = "/tmp/placesXXXXXX";
  char stack[3 * PAGE];
  const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  loop *memfd = put_file(memfd_create("places", 0));
  int fd = mkstemp(name);
  unlink(name);
  loop *deleted = put_file(fd);
  loop *zero = put(mmap(0, PAGE, all, MAP_SHARED, open("/dev/zero", O_RDWR), 0));
  loop *shm = put(shmat(shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700), 0, SHM_EXEC));
  loop *anonymous = put(mmap(0, PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char *heap = sbrk(3 * PAGE);
  loop *in = put((void *)(((unsigned long)heap + PAGE) & -PAGE));
  void *page = (void *)(((unsigned long)stack + PAGE) & -PAGE);
  loop *on_stack = put(page);
  dlopen("libplain.so", RTLD_NOW); /* gprofng's collector looks at all mappings again */
  in_memfd(memfd);
  in_deleted(deleted);
  in_zero(zero);
  in_shm(shm);
  in_anonymous(anonymous);
  in_heap(in);
  in_stack(on_stack);
  return 0;
}
