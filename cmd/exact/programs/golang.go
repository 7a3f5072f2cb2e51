//go:build ignore

// The test program in Go: goroutines, closures, methods, interfaces, generic and inlined functions,
// defer, panic. What it logs about a touch is the stack that Go's runtime reports.
package main

import (
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

const base, size = 0x20000000, 1 << 26

var (
	lock  sync.Mutex
	next  uintptr = base
	truth         = make([]byte, 0, 1<<20)
)

func begin() {
	syscall.RawSyscall6(syscall.SYS_MMAP, base, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_FIXED|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	syscall.RawSyscall(syscall.SYS_MADVISE, base, size, 15) // MADV_NOHUGEPAGE
}

// page returns the next page. The caller touches it on the line of the call.
//
//go:noinline
func page() *byte {
	lock.Lock()
	defer lock.Unlock()
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var list []runtime.Frame
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		list = append(list, f)
	}
	slices.Reverse(list)
	truth = strconv.AppendUint(truth, uint64(next), 10)
	truth = strconv.AppendInt(append(truth, '\t'), int64(syscall.Getpid()), 10)
	truth = strconv.AppendInt(append(truth, '\t'), int64(syscall.Gettid()), 10)
	for _, f := range list {
		// The address distinguishes instances of a generic function, which have the same name.
		function := "\tc|" + f.Function + "@" + strconv.Itoa(int(f.Entry))
		if f.Func == nil {
			function = "\ti|" + f.Function
		}
		truth = append(truth, function+"|"+f.File+"|"+strconv.Itoa(f.Line)...)
	}
	truth = append(truth, '\n')
	p := next
	next += 4096
	return *(**byte)(unsafe.Pointer(&p))
}

type shape interface{ draw(n int) }

type circle struct{ n int }
type square struct{ circle }

//go:noinline
func (c circle) draw(n int) {
	for range n {
		*page() = 1
	}
	c.edge()
}

func (c circle) edge() { *page() = 2 }

//go:noinline
func (s *square) draw(n int) {
	*page() = 1
	s.circle.draw(n)
	s.edge()
}

//go:noinline
func twice(s shape, n int) {
	s.draw(n)
	s.draw(n + 1)
}

func small() { *page() = 1 }

func middle() {
	small()
}

//go:noinline
func outer(n int) {
	small()
	middle()
	func() { *page() = 3 }()
	if n > 0 {
		outer(n - 1)
	}
}

//go:noinline
func generic[T any](list ...T) {
	for range list {
		*page() = 1
	}
}

type stack[T any] struct{ list []T }

//go:noinline
func (s *stack[T]) push(v T) {
	s.list = append(s.list, v)
	*page() = 1
}

//go:noinline
func instances() {
	generic(1, 2)
	generic("a")
	generic(&circle{}, &circle{})
	(&stack[int]{}).push(1)
	(&stack[string]{}).push("")
}

//go:noinline
func apply(f func(int)) {
	f(1)
	f(2)
}

//go:noinline
func closures(n int) {
	apply(func(k int) {
		for range k + n {
			*page() = 1
		}
		apply(func(int) { *page() = 1 })
	})
	c := &circle{}
	apply(c.draw)
}

//go:noinline
func deferred(n int) {
	defer later(n)
	defer func() {
		*page() = 1
	}()
	*page() = 1
}

//go:noinline
func later(n int) {
	for range n {
		*page() = 1
	}
}

//go:noinline
func panics() {
	defer later(1)
	*page() = 1
	panic(1)
}

//go:noinline
func recovers() {
	defer func() {
		recover()
		*page() = 1
	}()
	panics()
}

//go:noinline
func sorts() {
	list := []int{2, 1, 3}
	sort.Slice(list, func(i, j int) bool {
		*page() = 1
		return list[i] < list[j]
	})
}

//go:noinline
func iterates() {
	for n := range sequence {
		*page() = byte(n)
	}
}

//go:noinline
func sequence(yield func(int) bool) {
	for i := range 2 {
		if !yield(i) {
			return
		}
	}
}

//go:noinline
func goroutines() {
	var group sync.WaitGroup
	for i := range 3 {
		group.Add(1)
		go func() {
			runtime.LockOSThread()
			defer group.Done()
			later(i + 1)
		}()
	}
	group.Go(worker)
	group.Wait()
	*page() = 1
}

func worker() {
	runtime.LockOSThread()
	*page() = 1
	outer(0)
}

var created = constructed()

//go:noinline
func constructed() int {
	begin()
	*page() = 1
	return 1
}

func init() {
	runtime.LockOSThread()
	*page() = 1
}

func main() {
	twice(circle{}, 1)
	twice(&square{}, 1)
	outer(1)
	instances()
	closures(1)
	deferred(2)
	recovers()
	sorts()
	iterates()
	goroutines()
	*page() = 1
	f, err := os.Create(os.Getenv("TRUTH"))
	if err != nil {
		panic(err)
	}
	f.Write(truth)
}
