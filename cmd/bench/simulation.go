package main

import (
	priority "container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// costs are the costs of tasks, as the row "cluster" measures them.
type costs struct {
	cpu       time.Duration // per experiment
	start     time.Duration // of a task that has nothing to do
	questions float64       // operations on the recordings per experiment
	batch     float64       // operations on the store per batch, without its commit
	commit    float64       // operations for its commit
	batchSize int           // experiments of a batch
	read      int64         // bytes of a recording
	written   int64         // bytes of an experiment in the store
	entry     int64         // bytes of an experiment in a commit
}

// typical are the costs of small experiments, used if "cluster" is not measured.
var typical = costs{cpu: 11 * time.Millisecond, start: 300 * time.Millisecond, questions: 70, batch: 850, commit: 8, batchSize: 400,
	read: 372_000, written: 12_000, entry: 270}

// sites are storages for a thousand workers: a filer, a parallel file system, a distant one. Their
// latencies and rates are assumptions.
var sites = []struct {
	name string
	site
}{
	{"20,000 operations/s of 0.5 ms, 5 GB/s", site{workers: 1000, latency: 500 * time.Microsecond, rate: 20_000, bytes: 5e9, lost: 0.05}},
	{"100,000 operations/s of 0.5 ms, 50 GB/s", site{workers: 1000, latency: 500 * time.Microsecond, rate: 100_000, bytes: 50e9, lost: 0.05}},
	{"500,000 operations/s of 0.2 ms, 200 GB/s", site{workers: 1000, latency: 200 * time.Microsecond, rate: 500_000, bytes: 200e9, lost: 0.05}},
}

// simulation computes how long a million experiments take.
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

// site is a cluster and its storage, which has a queue for operations and a queue for bytes.
type site struct {
	workers int           // that run at once, of one processor each
	latency time.Duration // of an operation without queueing; a worker has one at a time
	rate    float64       // operations per second
	bytes   float64       // bytes per second
	lost    float64       // the fraction of tasks that are killed at a random moment, and run again
}

// outcome is the result of a simulation.
type outcome struct {
	took       time.Duration
	efficiency float64 // processor time of experiments, relative to all that was available
	operations float64
	commits    float64 // operations on commits
	busy       float64 // fraction of the time in which the queue of operations has work
	moved      float64 // bytes
}

// worker is a processor that runs tasks.
type worker struct {
	now    float64 // seconds
	task   int     // experiments of its task that are left
	filled int     // experiments of the batch that is being read
	done   int     // batches that its task has committed
	dies   int     // it is killed when this many of its experiments are left; -1: never
	steps  []pause // waits before the next experiment or task
}

// pause is what a worker waits for. Pauses are handled in time order, so that the queues are in
// order.
type pause struct{ seconds, operations, bytes float64 }

// workers are sorted by their times.
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

// simulation is one simulated ingest.
type simulation struct {
	costs
	site
	outcome
	operationsFree, bytesFree float64 // when the queues are empty
}

// simulate lets workers ingest experiments, in tasks of perTask experiments each.
func simulate(c costs, s site, experiments, perTask int) outcome {
	m := &simulation{costs: c, site: s}
	random := rand.New(rand.NewPCG(1, 1))
	left := experiments // not yet begun by any task
	var all workers
	next := func(w *worker) bool { // begins a task
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
		case w.task == w.dies: // what it has read since its last commit is read again
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

// rereads is the number of operations to read a commit: open, read, and read the end of file.
const rereads = 3

// begin starts a task. A task that runs again reads the commits that it has made.
func (m *simulation) begin(w *worker) {
	n := float64(w.done) * rereads
	m.commits += n
	w.steps = append(w.steps[:0], pause{seconds: m.start.Seconds()}, pause{operations: n}, pause{bytes: float64(w.done) * float64(m.batchSize) * float64(m.entry)})
}

// read ingests one experiment, and commits its batch if that is full.
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

// wait advances a worker by a pause: a time, and the queues, which handle one operation after the
// other.
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
