package acceptance

import "testing"

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
