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

// overLimit says that an experiment exceeded a limit: it is committed as failed,
// without samples, so that the others can go on.
type overLimit struct{ reason, message string }

func (e *overLimit) Error() string { return e.message }

// The reasons.
const (
	reasonTime   = "time-limit"
	reasonMemory = "memory-limit"
)

// errCrowded says that several experiments together took more memory than they may:
// each is tried again alone, to find the one that takes it.
var errCrowded = errors.New("it was read beside others, and the memory was used up")

// leastMemory is the least Options.Memory that ingesting needs.
var leastMemory int64 = 256 << 20

// perByte is how much more memory each byte of a recording may take. If nearly every
// sample has a stack of its own, stacks and values take some 9 bytes, and more if the
// recording is compressed.
const perByte = 32

// allowed is how much memory may be in use while recordings of so many bytes are
// read: what is kept of samples and stacks grows with the recording.
func allowed(limit, recordings int64) int64 {
	limit = max(limit, leastMemory)
	return limit + limit/2 + perByte*recordings
}

// underway are the attempts that are under way.
type underway struct {
	mu       sync.Mutex
	attempts map[*attempt]bool
	strays   int // those that were left and have not ended
}

func (s *underway) add(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempts == nil {
		s.attempts = map[*attempt]bool{}
	}
	s.attempts[a] = true
}

func (s *underway) remove(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attempts, a)
}

// left counts strays.
func (s *underway) left(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays += n
}

// now returns the attempts and the bytes that they read.
func (s *underway) now() (list []*attempt, bytes int64, strays int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attempts {
		list = append(list, a)
		bytes += a.src.bytes
	}
	return list, bytes, s.strays
}

// lookEvery is how often the watch looks at the memory, which grows by some 100 MB in
// that time at most.
const lookEvery = 50 * time.Millisecond

// watch keeps the experiments within the memory until the context ends.
func (in *ingest) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	before := live()
	garbage := newCollector()
	defer garbage.end()
	garbage.rest(restSize(in.Memory, allocated(), before), before)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := live()
		list, bytes, strays := in.underway.now()
		garbage.rest(restSize(in.Memory, allocated(), now), now)
		if now-before > allowed(in.Memory, bytes) {
			in.relieve(list, strays)
		}
	}
}

// relieve ends the attempts that use the memory up, and waits until it is free.
func (in *ingest) relieve(list []*attempt, strays int) {
	switch {
	case strays > 0:
		in.stop(errors.New("the memory is used up by a recording that was given up (see --memory)"))
	case len(list) == 1:
		list[0].cancel(&overLimit{reasonMemory, fmt.Sprintf("reading it takes far more than the memory limit of %d MiB (see --memory): it is not read", in.Memory>>20)})
	}
	for _, a := range list {
		a.cancel(errCrowded)
	}
	for _, a := range list {
		<-a.ended
	}
	runtime.GC() // counts anew what is in use
}

// live is the memory in use, as of the last garbage collection.
func live() int64 { return measured("/gc/heap/live:bytes") }

// allocated is the memory that has been allocated since the program began.
func allocated() int64 { return measured("/gc/heap/allocs:bytes") }

// measured returns a metric of the runtime, 0 if it does not have it.
func measured(metric string) int64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
