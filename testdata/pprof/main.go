// Command profiles records its own profiles with runtime/pprof: cpu.pb.gz, with labels, and
// heap.pb.gz.
package main

import (
	"context"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

var (
	sink int
	kept [][]byte
)

func add(a, b int) int { return a + b*b }

func spin(n int) {
	for i := range n {
		sink = add(sink, i)
	}
}

//go:noinline
func even(n int) bool { spin(2000); return n == 0 || odd(n-1) }

//go:noinline
func odd(n int) bool { spin(2000); return n != 0 && even(n-1) }

func words(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i))
	}
	return b.String()
}

func keep(n int) {
	for range n {
		kept = append(kept, make([]byte, 1<<16))
	}
}

func work(until time.Time) {
	for time.Now().Before(until) {
		even(20)
		sink += len(words(5000))
	}
}

func main() {
	runtime.MemProfileRate = 1 << 12
	cpu, err := os.Create("cpu.pb.gz")
	if err != nil {
		log.Fatal(err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(3 * time.Second)
	done := make(chan bool)
	for _, name := range []string{"one", "two"} {
		go func() {
			pprof.Do(context.Background(), pprof.Labels("worker", name), func(context.Context) { work(end) })
			done <- true
		}()
	}
	work(end)
	<-done
	<-done
	pprof.StopCPUProfile()
	if err := cpu.Close(); err != nil {
		log.Fatal(err)
	}
	keep(100)
	runtime.GC()
	heap, err := os.Create("heap.pb.gz")
	if err != nil {
		log.Fatal(err)
	}
	if err := pprof.Lookup("heap").WriteTo(heap, 0); err != nil {
		log.Fatal(err)
	}
	if err := heap.Close(); err != nil {
		log.Fatal(err)
	}
}
