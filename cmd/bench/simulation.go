package main

import (
	priority "container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// costs are what the tasks of a plan cost, as the row "cluster" measures it.
type costs struct {
	cpu       time.Duration // CPU time per experiment
	start     time.Duration // CPU time of a task without work
	questions float64       // operations on the storage of recordings, per experiment
	batch     float64       // operations on the store per batch, without its commit
	commit    float64       // operations on the store for the commit of a batch
	batchSize int           // experiments per batch
	read      int64         // bytes of a recording, which are read
	written   int64         // bytes of an experiment in the tables of the store
	entry     int64         // bytes of an experiment in the commit
}

// typical are costs of small experiments, for when the row "cluster" is not measured.
var typical = costs{cpu: 11 * time.Millisecond, start: 300 * time.Millisecond, questions: 70, batch: 850, commit: 8, batchSize: 400,
	read: 372_000, written: 12_000, entry: 270}

// sites are clusters of a thousand workers with different storage: a file server, a parallel file
// system, and a distant one. Latencies and rates are assumptions.
var sites = []struct {
	name string
	site
}{
	{"20,000 operations/s of 0.5 ms, 5 GB/s", site{workers: 1000, latency: 500 * time.Microsecond, rate: 20_000, bytes: 5e9, lost: 0.05}},
	{"100,000 operations/s of 0.5 ms, 50 GB/s", site{workers: 1000, latency: 500 * time.Microsecond, rate: 100_000, bytes: 50e9, lost: 0.05}},
	{"500,000 operations/s of 0.2 ms, 200 GB/s", site{workers: 1000, latency: 200 * time.Microsecond, rate: 500_000, bytes: 200e9, lost: 0.05}},
}

// simulation computes how long it takes to ingest a million experiments.
func (b *bench) simulation() error {
	const experiments = 1_000_000
	for _, s := range sites {
		for _, perTask := range []int{1000, 250} {
			r := simulate(b.costs, s.site, experiments, perTask)
			at := func(work string, value float64, unit string) {
				b.figures.add(figure{work: fmt.Sprintf("a million experiments in tasks of %d: %s", perTask, work), against: s.name, value: value, unit: unit})
			}
			at("time", r.took.Seconds(), "s")
			at("operations", r.operations/1e6, "million")
			at("of these on commits", r.commits/1e6, "million")
		}
	}
	return nil
}

// site is a cluster and its storage. The storage has a queue for operations and a queue for bytes.
type site struct {
	workers int           // tasks that run at the same time, each on one processor
	latency time.Duration // time of an operation when the queue is empty; a worker waits for each operation
	rate    float64       // operations per second of the storage
	bytes   float64       // bytes per second of the storage
	lost    float64       // fraction of tasks that are killed at a random time, and run again
}

// outcome is the result of a simulation.
type outcome struct {
	took       time.Duration
	efficiency float64 // CPU time for experiments, divided by the time of all workers
	operations float64
	commits    float64 // operations that were on commits
	busy       float64 // fraction of the time in which there were operations in the queue
	moved      float64 // bytes read and written
}

// worker is a processor that runs one task after the other.
type worker struct {
	now    float64 // the worker's time, in seconds
	task   int     // experiments left in the worker's task
	filled int     // experiments in the current batch so far
	done   int     // batches of the task that are committed
	dies   int     // the task is killed when task is this number; -1: never
	steps  []pause // what the worker does before the next experiment or task
}

// pause is time that a worker spends: on computing, operations or bytes. Pauses of all workers are
// handled in order of time, so that the queues are, too.
type pause struct{ seconds, operations, bytes float64 }

// workers is a heap: the worker with the earliest time is the first.
type workers []*worker

func (w workers) Len() int           { return len(w) }
func (w workers) Less(i, j int) bool { return w[i].now < w[j].now }
func (w workers) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *workers) Push(x any)        { *w = append(*w, x.(*worker)) }
func (w *workers) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// simulation is the state of a simulated ingest.
type simulation struct {
	costs
	site
	outcome
	operationsFree, bytesFree float64 // times at which the queues become empty
}

// simulate simulates the ingest of experiments, in tasks of perTask experiments each.
func simulate(c costs, s site, experiments, perTask int) outcome {
	m := &simulation{costs: c, site: s}
	random := rand.New(rand.NewPCG(1, 1))
	left := experiments // experiments that no task has yet
	var all workers
	next := func(w *worker) bool { // gives a worker the next task, if any
		if w.task = min(perTask, left); w.task == 0 {
			return false
		}
		left -= w.task
		w.filled, w.done, w.dies = 0, 0, -1
		if random.Float64() < s.lost {
			w.dies = random.IntN(w.task)
		}
		m.begin(w)
		return true
	}
	for range s.workers {
		if w := new(worker); next(w) {
			all = append(all, w)
		}
	}
	priority.Init(&all)
	for len(all) > 0 {
		w := all[0]
		switch {
		case len(w.steps) > 0:
			m.wait(w, w.steps[0])
			w.steps = w.steps[1:]
		case w.task == w.dies: // killed: the new run reads the experiments since the last commit again
			w.task += w.filled
			w.filled, w.dies = 0, -1
			m.begin(w)
		case w.task > 0:
			m.read(w)
		default:
			m.took = max(m.took, time.Duration(w.now*1e9))
			if !next(w) {
				priority.Pop(&all)
				continue
			}
		}
		priority.Fix(&all, 0)
	}
	m.efficiency = c.cpu.Seconds() * float64(experiments) / (m.took.Seconds() * float64(s.workers))
	m.busy = m.operations / s.rate / m.took.Seconds()
	return m.outcome
}

// rereads is the number of operations to read a commit: open, read the content, and read the end of
// the file.
const rereads = 3

// begin begins a task. If the task was killed before, it first reads its own commits.
func (m *simulation) begin(w *worker) {
	n := float64(w.done) * rereads
	m.commits += n
	w.steps = append(w.steps[:0], pause{seconds: m.start.Seconds()}, pause{operations: n}, pause{bytes: float64(w.done) * float64(m.batchSize) * float64(m.entry)})
}

// read ingests an experiment. If the batch is full or the task ends, it also commits the batch.
func (m *simulation) read(w *worker) {
	w.steps = append(w.steps[:0], pause{operations: m.questions}, pause{bytes: float64(m.costs.read)}, pause{seconds: m.cpu.Seconds()})
	w.task--
	if w.filled++; w.filled < m.batchSize && w.task > 0 {
		return
	}
	m.commits += m.commit
	w.steps = append(w.steps, pause{operations: m.batch + m.commit}, pause{bytes: float64(w.filled) * float64(m.written+m.entry)})
	w.filled = 0
	w.done++
}

// wait advances a worker's time by a pause. For operations and bytes, it waits until the queue has
// handled those of earlier pauses.
func (m *simulation) wait(w *worker, s pause) {
	w.now += s.seconds
	if s.operations > 0 {
		m.operations += s.operations
		m.operationsFree = max(m.operationsFree, w.now) + s.operations/m.rate
		w.now = max(m.operationsFree, w.now+s.operations*m.latency.Seconds())
	}
	if s.bytes > 0 {
		m.moved += s.bytes
		m.bytesFree = max(m.bytesFree, w.now) + s.bytes/m.site.bytes
		w.now = m.bytesFree
	}
}
