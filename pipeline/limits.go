package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// overLimit is the error of an experiment that exceeded a limit: it is committed as failed, without
// samples, so that the others can go on.
type overLimit struct{ reason, message string }

func (e *overLimit) Error() string { return e.message }

// Reasons of overLimit.
const (
	reasonTime   = "time-limit"
	reasonMemory = "memory-limit"
)

// errMemoryShared cancels experiments that together used too much memory. Each is read again alone,
// to find the one that needs so much.
var errMemoryShared = errors.New("the memory was used up while other recordings were read, too")

// minMemory is the least memory that ingesting needs.
var minMemory int64 = 256 << 20

// perByte is how many bytes of memory ingest may use beyond the limit for each byte of the
// recordings being read. If nearly every sample has a stack of its own, stacks and values take some
// 9 bytes per byte of the recording, and more if it is compressed.
const perByte = 32

// memoryLimit returns how far the live heap may grow while recordings of that many bytes are read.
func memoryLimit(limit, recordings int64) int64 {
	limit = max(limit, minMemory)
	return limit + limit/2 + perByte*recordings
}

// activeAttempts holds the attempts that are running, and counts the abandoned ones.
type activeAttempts struct {
	mu        sync.Mutex
	attempts  map[*attempt]bool
	abandoned int // attempts that were left and have not ended
}

func (s *activeAttempts) add(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempts == nil {
		s.attempts = map[*attempt]bool{}
	}
	s.attempts[a] = true
}

func (s *activeAttempts) remove(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attempts, a)
}

// addAbandoned adds n to the number of abandoned attempts.
func (s *activeAttempts) addAbandoned(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned += n
}

// snapshot returns the attempts, the bytes that they read, and the number of abandoned ones.
func (s *activeAttempts) snapshot() (list []*attempt, bytes int64, abandoned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attempts {
		list = append(list, a)
		bytes += a.src.bytes
	}
	return list, bytes, s.abandoned
}

// memoryCheckInterval is how often the memory is checked. In that time it grows by some 100 MB at
// most.
const memoryCheckInterval = 50 * time.Millisecond

// watch keeps the experiments within the memory limit until the context ends.
func (in *ingest) watch(ctx context.Context) {
	tick := time.NewTicker(memoryCheckInterval)
	defer tick.Stop()
	before := live()
	garbage := newGCTuner()
	defer garbage.end()
	garbage.setTarget(heapTarget(in.options.Memory, allocated(), before), before)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := live()
		list, bytes, abandoned := in.attempts.snapshot()
		garbage.setTarget(heapTarget(in.options.Memory, allocated(), now), now)
		if now-before > memoryLimit(in.options.Memory, bytes) {
			in.relieve(list, abandoned)
		}
	}
}

// relieve cancels all attempts, and waits until they have ended. If there is only one, it exceeded
// the limit by itself. If an abandoned attempt still uses memory, relieve stops the run.
func (in *ingest) relieve(list []*attempt, abandoned int) {
	switch {
	case abandoned > 0:
		in.stop(errors.New("a recording that was given up still uses up the memory (see --memory)"))
	case len(list) == 1:
		list[0].cancel(&overLimit{reasonMemory, fmt.Sprintf("reading it took far more than the memory limit of %d MiB, so it was given up (see --memory)", in.options.Memory>>20)})
	}
	for _, a := range list {
		a.cancel(errMemoryShared)
	}
	for _, a := range list {
		<-a.ended
	}
	runtime.GC() // updates the size of the live heap
}

// live returns the size of the live heap, as of the last garbage collection.
func live() int64 { return measured("/gc/heap/live:bytes") }

// allocated returns the bytes allocated since the program began.
func allocated() int64 { return measured("/gc/heap/allocs:bytes") }

// measured returns a metric of the runtime; 0 if the runtime lacks it.
func measured(metric string) int64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
