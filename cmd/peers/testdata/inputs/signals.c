// Handlers that work, on the thread's stack and on one of their own.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile unsigned long ticks, sum;
static sigjmp_buf back;

static __attribute__((noinline)) unsigned long spin(unsigned long n) {
  unsigned long x = n;
  for (unsigned long i = 0; i < n; i++) x = x * 31 + i;
  return x;
}
static void on_alarm(int s) { (void)s; ticks += spin(20000) & 1; ticks++; }
static void on_segv(int s) { (void)s; sum += spin(3000); siglongjmp(back, 1); }
static void on_usr(int s) { (void)s; sum += spin(5000); }
static __attribute__((noinline)) void interrupted(void) { while (ticks < 600) sum += spin(1000); }
static __attribute__((noinline)) void faults(void) {
  for (volatile int i = 0; i < 20000; i++)
    if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
}

int main(void) {
  stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&own, NULL);
  struct sigaction a = {.sa_handler = on_segv, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &a, NULL);
  signal(SIGALRM, on_alarm);
  signal(SIGUSR1, on_usr);
  struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every, NULL);
  interrupted();
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  faults();
  for (int i = 0; i < 20000; i++) raise(SIGUSR1);
  printf("%lu %lu\n", ticks, sum);
}
