//go:build linux && (amd64 || arm64) && cgo && !race && !msan && !asan

package main

/*
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // of Linux 5.14: older headers lack it
#endif

// room is how many bytes of the heap may still be in huge pages.
static _Atomic long room;

enum { huge_page = 2 << 20, growth = 4 << 20, arena = 64 << 20 };

// grown is the address of the heap's latest growth plus its size in units of growth, to which
// addresses are aligned. Growth of more than an arena counts as 0: little of it may be used.
static _Atomic uintptr_t grown;
static sem_t has_grown;

// populate makes the pages of the heap before they are used, while whoever uses them has
// the first one made. It stops when the heap has grown again.
static void *populate(void *unused) {
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL); // they are for the Go runtime
	for (;;) {
		while (sem_wait(&has_grown) != 0) {
		}
		uintptr_t latest = grown, at = latest & ~(uintptr_t)(growth - 1);
		size_t size = (latest - at) * growth;
		for (size_t from = huge_page; from < size && latest == grown; from += huge_page)
			madvise((void *)(at + from), huge_page, MADV_POPULATE_WRITE); // only advice
	}
	return unused;
}

static void set_room(long bytes) {
	static int populated;
	pthread_t thread;
	if (bytes > 0 && !populated && sem_init(&has_grown, 0, 0) == 0)
		populated = pthread_create(&thread, NULL, populate, NULL) == 0;
	room = populated ? bytes : 0;
}

// mmap takes the place of the C library's, which the Go runtime calls in programs that use
// cgo. Its heap grows by multiples of 4 MiB at addresses of its choice.
void *mmap(void *at, size_t size, int may, int how, int fd, off_t from) {
	void *mapped = (void *)syscall(SYS_mmap, at, size, may, how, fd, from);
	int heap = MAP_ANONYMOUS | MAP_FIXED;
	if (mapped != MAP_FAILED && (how & heap) == heap && (may & PROT_WRITE) && size % growth == 0 &&
	    (uintptr_t)mapped % growth == 0 && room > 0 && atomic_fetch_sub(&room, (long)size) >= (long)size) {
		madvise(mapped, size, MADV_HUGEPAGE); // only advice
		grown = (uintptr_t)mapped + (size <= arena ? size / growth : 0);
		sem_post(&has_grown);
	}
	return mapped;
}
*/
import "C"

// hugePages lets so many bytes of the heap, as it grows from now on, be in huge pages. A page
// fault for each 4 KiB is a tenth of the time of reading a recording of 200,000 samples. Where
// a host gives a virtual machine its memory only when it is used, pages take milliseconds:
// another thread makes them ahead.
func hugePages(size int64) { C.set_room(C.long(size)) }
