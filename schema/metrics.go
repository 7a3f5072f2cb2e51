package schema

// Metric declares what a metric counts: which rows of its kind's sample table,
// and which value of each. The accumulator of the attribute stage and the SQL
// view `sample_metrics` both derive from it (formats/gprofng-experiment 8.1).
type Metric struct {
	Name, Title, Unit string
	Kind              Kind
	Value             string // a column of the sample table; empty: each sample counts 1
	Where             []All  // a sample counts when one of them holds; empty: always
}

// All holds when each of its conditions holds.
type All []Cond

// Cond holds when the column has one of the values, or none of them if Not.
type Cond struct {
	Column string // of the kind's sample table, or thread_id
	Not    bool
	Values []int64
}

func is(column string, values ...int64) Cond  { return Cond{column, false, values} }
func not(column string, values ...int64) Cond { return Cond{column, true, values} }
func one(conds ...Cond) []All                 { return []All{conds} }

var (
	ompBusy = []int64{0, 2, 6, 7}
	ompIdle = []int64{3, 4, 5, 8, 9, 10, 11, 12}

	allocation = []Cond{not("operation", 1, 4), not("address", 0)}
)

func clock(name, title string, where ...Cond) Metric {
	return Metric{name, title, "ns", Clock, "duration_ns", one(where...)}
}

func ioPair(name, title string, ops ...int64) []Metric {
	return []Metric{
		{name + "cnt", title + " Count", "count", IO, "", one(is("operation", ops...))},
		{name + "time", title + " Time", "ns", IO, "metric_ns", one(is("operation", ops...))},
	}
}

// Declared lists the metrics whose names are fixed, in the order in which they
// are shown. Those of hardware counters are named by the recording.
var Declared = func() []Metric {
	ms := []Metric{
		clock("totalcpu", "Total CPU Time", is("state", 0, 1, 2, 10)),
		clock("total", "Total Thread Time", not("state", 10, 11)),
		clock("user", "User CPU Time", is("state", 0)),
		clock("system", "System CPU Time", is("state", 1)),
		clock("trap", "Trap CPU Time", is("state", 2)),
		clock("textpfault", "Text Page Fault Time", is("state", 3)),
		clock("datapfault", "Data Page Fault Time", is("state", 4)),
		clock("kernelpfault", "Kernel Page Fault Time", is("state", 5)),
		clock("lock", "User Lock Time", is("state", 6)),
		clock("sleep", "Sleep Time", is("state", 7)),
		clock("wait", "Wait CPU Time", is("state", 8)),
		clock("stop", "Stopped Time", is("state", 9)),
		clock("kcpu", "Kernel CPU Time", is("state", 11)),
		clock("masterthread", "Master Thread Time", is("thread_id", 1)),
		clock("ompwork", "OpenMP Work Time", is("state", 0), is("omp_state", ompBusy...)),
		{"ompwait", "OpenMP Wait Time", "ns", Clock, "duration_ns", []All{
			{is("omp_state", ompIdle...)},
			{not("state", 0), is("omp_state", ompBusy...)},
		}},
		clock("ompovhd", "OpenMP Overhead Time", is("omp_state", 1)),
		{"sync", "Sync Wait Time", "ns", Sync, "metric_ns", nil},
		{"syncn", "Sync Wait Count", "count", Sync, "", nil},
		{"heapallocbytes", "Bytes Allocated", "bytes", Heap, "size", one(allocation...)},
		{"heapalloccnt", "Allocations", "count", Heap, "", one(allocation...)},
		{"heapleakbytes", "Bytes Leaked", "bytes", Heap, "leaked", one(append(allocation, not("leaked", 0))...)},
		{"heapleakcnt", "Leaks", "count", Heap, "", one(append(allocation, not("leaked", 0))...)},
		{"ioreadbytes", "Read Bytes", "bytes", IO, "bytes", one(is("operation", 0))},
		{"iowritebytes", "Write Bytes", "bytes", IO, "bytes", one(is("operation", 1))},
	}
	ms = append(ms, ioPair("ioread", "Read", 0)...)
	ms = append(ms, ioPair("iowrite", "Write", 1)...)
	ms = append(ms, ioPair("ioother", "Other I/O", 2, 3, 4)...)
	ms = append(ms, ioPair("ioerror", "I/O Error", 5, 6, 7, 8, 9)...)
	return append(ms,
		Metric{"raccess", "Race Accesses", "count", Race, "accesses", nil},
		Metric{"deadlocks", "Deadlocks", "count", Deadlock, "", nil},
	)
}()
