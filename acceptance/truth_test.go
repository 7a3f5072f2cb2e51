package acceptance

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// truth is something that follows from a recorded program's source.
type truth struct {
	recording, what string
	holds           func(*testing.T, *model)
}

var truths = []truth{
	{"recur", "shares of time", shares(40, "fact", 20, "is_even", 10, "is_odd", 10, "flat")},
	{"recur", "recursion is not counted twice", sums("fact", 1, "fact")},
	{"recur", "main contains everything", sums("main", 1, "fact", "is_even", "is_odd", "flat")},
	{"recur", "direct recursion", callers("fact", "fact", "main")},
	{"recur", "mutual recursion", callers("is_even", "is_odd", "main")},
	{"recur_dw5", "lines from DWARF 5", fileLines("recur.c", map[string]int{"fact": 4, "is_even": 6, "is_odd": 7, "flat": 8})},
	{"recur_dw5", "order of time", shares(40, "fact", 20, "is_even")},
	{"threads", "shares of time", shares(5, "worker_a", 10, "only_a", 20, "worker_b", 30, "shared_work")},
	{"threads", "shared_work's callers", callers("shared_work", "main", "worker_c")},
	{"forkexec", "shares of time", shares(20, "parent_work", 15, "child_work", 10, "grandchild_work", 30, "exec_work")},
	{"forkexec", "two functions main", objects("main", "forkexec", "forkexec_target")},
	{"dlreload", "shares of time", shares(15, "plug_one", 15, "p1_inner", 28, "plug_two", 12, "p2_inner")},
	{"alias", "the last alias is shown", aliases("compute", "_compute compute")},
	{"alias", "the last alias is shown", aliases("beta_z", "beta_a beta_m beta_z")},
	{"alias", "compute and beta", shares(40, "compute", 15, "beta_z", 40, "helper")},
	{"interpose", "two functions malloc", objects("malloc", "interpose", "libc.so.6")},
	{"interpose", "two functions free", objects("free", "interpose", "libc.so.6")},
	{"stripmain", "one function for each region", objects("<static>@0x1040", "libstripped.so")},
	{"stripmain", "one function for each region", objects("<static>@0x11c3", "libstripped.so")},
	{"stripmain", "shares of time", shares(40, "<static>@0x1040", 5, "pub_first", 15, "<static>@0x11c3")},
	{"stripmain", "callers of the first region", callers("<static>@0x1040", "pub_first", "pub_second")},
	{"stripmain", "callers of the second region", callers("<static>@0x11c3", "pub_second")},
	{"entry", "the shared body has both entries' time", attributed("master.0.body_", "body_", 1, "alt_", 2)},
	{"clones", "clones are functions", aliases("poly [clone .constprop.0]", "poly.constprop.0")},
	{"clones", "clones are functions", aliases("scaled [clone .isra.0]", "scaled.isra.0")},
	{"clones", "clones are functions", aliases("partial [clone .part.0]", "partial.part.0")},
	{"clones", "the split function's callers", callers("partial [clone .part.0]", "use_part1", "use_part2", "use_part3")},
	{"clones", "inlined functions are not in the list", absent("in_inner", "in_outer")},
	{"clones", "only the call through the pointer", shares(1, "host2", 1, "both")},
	{"outline", "the cold part is called by its function", callers("process [clone .cold]", "process")},
	{"outline", "the function contains its cold part", sums("process", 1, "process", "process [clone .cold]", "on_error")},
	{"cxx", "shares of time", shares(4, "geo::work(int)", 6, "geo::work(double, char const*)", 3, "Sq::area() const", 7, "Ci::area() const",
		6, "main::{lambda(int)#1}::operator()(int) const", 3, "geo::Vec::operator+(geo::Vec const&) const", 2, "(anonymous namespace)::hidden()",
		4, "thrower(int)", 2, "Guard::~Guard()", 5, "catcher() [clone .cold]", 5, "jumper(int)",
		5, "geo::Ring<int, 4>::run(int)", 5, "geo::Ring<long, 8>::run(long)", 5, "geo::Ring<int, 8>::run(int)")},
	{"cxx", "the catch block belongs to catcher", callers("catcher() [clone .cold]", "catcher()")},
	{"jit_none", "generated code is unknown", callers(unknownFunction, "main")},
	{"jit_api", "shares of time", shares(600, "jit_loop_one", 300, "jit_loop_two", 450, "jit_loop_three")},
	{"jit_api", "generated code calls", callers("called_back", "jit_callback")},
	{"plt_lazy", "only the right callers", callers("ext_inc", "caller_inc")},
	{"plt_lazy", "only the right callers", callers("ext_dec", "caller_dec")},
	{"plt_lazy", "no linkage table", absent("@plt", "_init")},
	{"plt_noplt", "only the right callers", callers("ext_inc", "caller_inc")},
	{"plt_noplt", "only the right callers", callers("ext_dec", "caller_dec")},
	{"plt_sec", "only the right callers", callers("ext_inc", "caller_inc")},
	{"plt_sec", "only the right callers", callers("ext_dec", "caller_dec")},
	{"plt_sec", "no linkage table", absent("@plt", "_init", "<static>@0x26d")},
	{"signals", "the handler's helper", callers("alarm_helper", "on_alarm")},
	{"signals", "handlers are called by the trampoline", callers("on_alarm", "__restore_rt")},
	{"signals", "handlers are called by the trampoline", callers("on_usr1", "__restore_rt")},
	{"signals", "shares of time", shares(50, "interrupted", 15, "on_usr1", 3, "self_kill")},
	{"tail", "A seems to call them all", callees("A", "B", "C", "D")},
	{"tail", "who tail-called is lost", callers("D", "A")},
	{"tail", "who tail-called is lost", callers("C", "A")},
	{"tail", "shares of time", shares(1, "B", 2, "C", 4, "D")},
	{"notail", "the true chain", callers("D", "C")},
	{"notail", "the true chain", callers("C", "B")},
	{"notail", "the true chain", callers("B", "A")},
	{"deep", "the root end is lost", sums(truncated, 0.5, totalFunction)},
	{"traps", "system calls", callers("syscall", "many_getppid")},
	{"heap", "leak_some", counts("leak_some", "heapalloccnt", 100, "heapallocbytes", 10000, "heapleakcnt", 100, "heapleakbytes", 10000)},
	{"heap", "no_leak", counts("no_leak", "heapalloccnt", 300, "heapallocbytes", 60000, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"heap", "grow", counts("grow", "heapalloccnt", 50, "heapallocbytes", 81600, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"heap", "zeroed", counts("zeroed", "heapalloccnt", 40, "heapallocbytes", 12000, "heapleakcnt", 20, "heapleakbytes", 6000)},
	{"heap", "path_one", counts("path_one", "heapalloccnt", 100, "heapallocbytes", 100000, "heapleakcnt", 25, "heapleakbytes", 25000)},
	{"heap", "path_two", counts("path_two", "heapalloccnt", 100, "heapallocbytes", 300000, "heapleakcnt", 20, "heapleakbytes", 60000)},
	{"heap", "hold_and_free", counts("hold_and_free", "heapalloccnt", 1000, "heapallocbytes", 50000, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"heap", "<Total>", counts(totalFunction, "heapalloccnt", 1690, "heapleakcnt", 165, "heapleakbytes", 101000)},
	{"io", "write_file", counts("write_file", "iowritecnt", 100, "iowritebytes", 102400)},
	{"io", "read_file", counts("read_file", "ioreadcnt", 26, "ioreadbytes", 102400)},
	{"io", "pread_file", counts("pread_file", "ioreadcnt", 50, "ioreadbytes", 5000)},
	{"io", "stdio_file", counts("stdio_file", "iowritecnt", 1000, "iowritebytes", 8890, "ioreadbytes", 8890)},
	{"io", "fail_open", counts("fail_open", "ioerrorcnt", 10)},
	{"io", "pipe_io", counts("pipe_io", "iowritecnt", 20, "iowritebytes", 10240, "ioreadcnt", 20, "ioreadbytes", 10240)},
	{"sync", "mutex waits", callers("pthread_mutex_lock", "hold_lock")},
}

const (
	unknownFunction = "<Unknown>"
	truncated       = "<Truncated-stack>"
)

func TestTruth(t *testing.T) {
	models := map[string]*model{}
	for _, test := range truths {
		t.Run(test.recording+"/"+test.what, func(t *testing.T) {
			m := models[test.recording]
			if m == nil {
				m = load(t, shared.DB, experiment(test.recording))
				models[test.recording] = m
			}
			test.holds(t, m)
		})
	}
}

// The threads' and processes' parts of the time.
func TestTruthThreads(t *testing.T) {
	for _, test := range []struct {
		recording, by string
		units         []float64
	}{
		{"threads", "thread_id", []float64{15, 15, 15, 20}},
		{"threads_raw", "thread_id", []float64{1}},
		{"forkexec", "process", []float64{5, 10, 15, 20, 25}},
	} {
		t.Run(test.recording, func(t *testing.T) {
			var got []float64
			rows, err := shared.DB.Query(`SELECT sum(value)::DOUBLE FROM usage_values JOIN experiments USING (experiment_id)
				WHERE experiment = ? AND metric = 'totalcpu' GROUP BY `+test.by+` ORDER BY 1`, experiment(test.recording))
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var v float64
				if err := rows.Scan(&v); err != nil {
					t.Fatal(err)
				}
				got = append(got, v)
			}
			closeTo(t, "parts", got, test.units)
		})
	}
}

// tolerance is how far a share of the time may be from the truth: the machine
// that recorded has noise, but the order of functions stays.
const tolerance = 0.06

func closeTo(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %d of %v", what, got, len(want), want)
		return
	}
	sum := func(vs []float64) (s float64) {
		for _, v := range vs {
			s += v
		}
		return s
	}
	for i := range want {
		if g, w := got[i]/sum(got), want[i]/sum(want); math.Abs(g-w) > tolerance || math.IsNaN(g) {
			t.Errorf("%s: share %d is %.3f, want %.3f", what, i, g, w)
		}
	}
}

// all returns the functions of a name that are in the function list.
func (m *model) all(name string) (fs []*function) {
	for id, f := range m.functions {
		for _, values := range m.values {
			if _, ok := values[id]; ok && f.name == name {
				fs = append(fs, f)
				break
			}
		}
	}
	return fs
}

func (m *model) sum(t *testing.T, name, metric string) (p pair) {
	t.Helper()
	fs := m.all(name)
	if len(fs) == 0 {
		t.Errorf("no function %s", name)
	}
	for _, f := range fs {
		p.exclusive += m.values[metric][f.id].exclusive
		p.inclusive += m.values[metric][f.id].inclusive
	}
	return p
}

// shares checks the exclusive times of functions against units of work, given
// in turn with the names.
func shares(units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got, want []float64
		for i := 0; i < len(units); i += 2 {
			want = append(want, float64(units[i].(int)))
			got = append(got, float64(m.sum(t, units[i+1].(string), "totalcpu").exclusive))
		}
		closeTo(t, "shares", got, want)
	}
}

// sums checks that a function's inclusive time is a factor of the sum of others' exclusive time.
func sums(name string, factor float64, parts ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var want float64
		for _, p := range parts {
			want += factor * float64(m.sum(t, p, "totalcpu").exclusive)
		}
		got := float64(m.sum(t, name, "totalcpu").inclusive)
		if factor == 1 && got != want || math.Abs(got-want) > tolerance*want {
			t.Errorf("inclusive time of %s is %.0f ns, want %.0f", name, got, want)
		}
	}
}

// neighbours returns the names of a function's callers or callees with values, sorted.
func (m *model) neighbours(t *testing.T, name, relation string) (names []string) {
	t.Helper()
	fs := m.all(name)
	for _, edges := range m.edges {
		for e, v := range edges {
			if slices.ContainsFunc(fs, func(f *function) bool { return f.id == e.function }) && e.relation == relation && v != 0 {
				names = append(names, m.functions[e.other].name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func callers(name string, want ...string) func(*testing.T, *model) {
	return edges(name, "caller", want)
}
func callees(name string, want ...string) func(*testing.T, *model) {
	return edges(name, "callee", want)
}

func edges(name, relation string, want []string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		slices.Sort(want)
		if got := m.neighbours(t, name, relation); !slices.Equal(got, want) {
			t.Errorf("%ss of %s: %q, want %q", relation, name, got, want)
		}
	}
}

// attributed checks the ratio in which a function's time belongs to two callers.
func attributed(name, first string, a int, second string, b int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got [2]float64
		for e, v := range m.edges["totalcpu"] {
			if m.functions[e.function].name == name && e.relation == "caller" {
				switch m.functions[e.other].name {
				case first:
					got[0] += float64(v)
				case second:
					got[1] += float64(v)
				}
			}
		}
		closeTo(t, "callers of "+name, got[:], []float64{float64(a), float64(b)})
	}
}

// objects checks in which load objects the functions of a name are.
func objects(name string, want ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []string
		for _, f := range m.all(name) {
			got = append(got, objectName(f.object))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is in %q, want %q", name, got, want)
		}
	}
}

// aliases checks that a function has these linkage names.
func aliases(name, want string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, f := range m.all(name) {
			if f.aliases != want {
				t.Errorf("linkage names of %s: %q, want %q", name, f.aliases, want)
			}
		}
		m.sum(t, name, "totalcpu")
	}
}

func absent(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, n := range names {
			for _, f := range m.all(n) {
				t.Errorf("%s of %s is in the list", n, f.object)
			}
		}
	}
}

// counts checks the inclusive values of a function, given in turn with the metrics.
func counts(name string, values ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for i := 0; i < len(values); i += 2 {
			metric, want := values[i].(string), int64(values[i+1].(int))
			if got := m.sum(t, name, metric).inclusive; got != want {
				t.Errorf("%s of %s: %d, want %d", metric, name, got, want)
			}
		}
	}
}

// fileLines checks that a function's own time is in these lines of a file.
func fileLines(file string, want map[string]int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for l, v := range m.lines["totalcpu"] {
			name := m.functions[l.function].name
			if n, ok := want[name]; ok && v.exclusive > 0 && (l.line != n || !strings.HasSuffix(l.file, file)) {
				t.Errorf("%s has time in line %d of %s, want line %d of %s", name, l.line, l.file, n, file)
			}
		}
		for name := range want {
			m.sum(t, name, "totalcpu")
		}
	}
}
