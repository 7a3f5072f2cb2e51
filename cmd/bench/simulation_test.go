package main

import (
	"math"
	"testing"
	"time"
)

var (
	someCosts = costs{cpu: 10 * time.Millisecond, start: time.Second, questions: 50, batch: 400, commit: 2, batchSize: 100, read: 1e6, written: 1e5, entry: 100}
	idle      = site{workers: 1, rate: 1e12, bytes: 1e15}
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.01*want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// If nothing has to wait, the time is the sum of its parts. If there is one bottleneck, it
// determines the time.
func TestSimulation(t *testing.T) {
	one := simulate(someCosts, idle, 1000, 250)
	near(t, "one worker", one.took.Seconds(), 1000*0.010+4)
	// 3 batches for each task.
	near(t, "operations", one.operations, 1000*50+12*402)
	near(t, "operations on commits", one.commits, 12*2)
	near(t, "bytes", one.moved, 1000*(1e6+1e5+100))

	slow := idle
	slow.latency = time.Millisecond
	near(t, "latency", simulate(someCosts, slow, 1000, 250).took.Seconds(), 14+one.operations/1000)

	many := idle
	many.workers = 100
	near(t, "efficiency of many", simulate(someCosts, many, 100_000, 1000).efficiency, 10.0/11)
	many.rate = 10_000
	r := simulate(someCosts, many, 100_000, 1000)
	near(t, "a slow queue of operations", r.took.Seconds(), r.operations/10_000)
	near(t, "it is busy", r.busy, 1)
	many.rate, many.bytes = 1e12, 1e9
	r = simulate(someCosts, many, 100_000, 1000)
	near(t, "a slow network", r.took.Seconds(), r.moved/1e9)

	near(t, "commits of many tasks", simulate(someCosts, many, 100_000, 100).commits, 1000*2)

	killed := idle
	killed.lost = 1
	r = simulate(someCosts, killed, 1000, 1000)
	if again := r.commits - 10*2; again < 0 || again > 10*rereads || int(again)%rereads != 0 {
		t.Errorf("a task that is killed reads its own commits in %v operations", again)
	}
	if more := r.took.Seconds() - simulate(someCosts, idle, 1000, 1000).took.Seconds(); more <= 1 || more > 1+100*0.010 {
		t.Errorf("a task that is killed costs %v s: its start, and at most one batch", more)
	}
}
