package acceptance

import "testing"

// truths check recordings against their programs' sources, without goldens. OpenMP programs, whose
// modes differ, are in rules.
var truths = []rule{
	{"S3", "recur recur_dw5 recur_raw", "user", "shares of time", shares(40, "fact", 20, "is_even", 10, "is_odd", 10, "flat")},
	{"S32", "recur recur_dw5", "user", "recursion is not counted twice", sums("fact", "fact")},
	{"S32", "recur recur_dw5", "user", "nor is mutual recursion", sums("is_even", "is_even", "is_odd")},
	{"S32", "recur recur_dw5", "user", "above the outermost is_even is no is_odd", inclusives(30, "is_even", 26, "is_odd")},
	{"S19", "recur recur_dw5 recur_raw", "user", "main contains everything", everything("main")},
	{"S32", "recur recur_dw5", "user", "direct recursion", callers("fact", "fact", "main")},
	{"S32", "recur recur_dw5", "user", "a recursive function calls itself", callees("fact", "fact")},
	{"S32", "recur recur_dw5", "user", "mutual recursion", callers("is_even", "is_odd", "main")},
	{"S32", "recur recur_dw5", "user", "mutual recursion, the other way", callers("is_odd", "is_even")},
	{"S32", "recur recur_dw5", "user", "main calls each once", callees("main", "fact", "is_even", "flat")},
	{"S3", "recur recur_dw5", "user", "lines from DWARF 4 and 5", fileLines("recur.c", map[string]int{"fact": 4, "is_even": 6, "is_odd": 7, "flat": 8})},

	{"S1", "threads", "user", "shares of time", shares(5, "worker_a", 10, "only_a", 20, "worker_b", 30, "shared_work")},
	{"S1", "threads", "user", "each thread's share", threads(15, 15, 15, 20)},
	{"S19", "threads", "user", "shared_work's callers", calledBy("shared_work", 15, "main", 15, "worker_c")},
	{"S19", "threads", "user", "nobody else calls it", callers("shared_work", "main", "worker_c")},
	{"S1", "threads_raw", "user", "only the main thread was recorded", threads(1)},
	{"S19", "threads_raw", "user", "which is below main", everything("main", "shared_work")},

	{"S1", "forkexec", "user", "shares of time", shares(20, "parent_work", 15, "child_work", 10, "grandchild_work", 30, "exec_work")},
	{"S1", "forkexec", "user", "each process does its own work", processes("", 20, "parent_work", "_f1", 15, "child_work", "_f1_f1", 10, "grandchild_work",
		"_f2_x1", 25, "exec_work", "_x1_x1", 5, "exec_work")},
	{"S5", "forkexec", "user", "two functions main", objects("main", "forkexec", "forkexec_target")},
	{"S5", "forkexec", "user", "each main calls its own", callees("forkexec!main", "parent_work", "child_work", "grandchild_work")},
	{"S5", "forkexec", "user", "each main calls its own", callees("forkexec_target!main", "exec_work")},

	{"S1", "dlreload", "user", "shares of the libraries", objectShares(30, "libplug1.so", 40, "libplug2.so")},
	{"S2", "dlreload", "user", "plug_one at two addresses is one function", shares(1, "plug_one", 1, "p1_inner")},
	{"S2", "dlreload", "user", "so is plug_two", shares(7, "plug_two", 3, "p2_inner")},
	{"S2", "dlreload", "user", "at two addresses", mappedAt("libplug1.so", 2)},
	{"S1", "loading", "user", "constructors and destructors are the library's", absent("<Unknown>")},
	{"S1", "loading", "user", "the destructor runs after the library's end was logged", callers("Table::~Table()", "__cxa_finalize")},
	{"S1", "loading", "user", "who opens a library has its constructors' inclusive time", sums("load", "helper")},
	{"S1", "loading", "user", "who closes it, its destructors'", sums("unload", "Table::~Table()")},
	{"S1", "loading", "user", "all that works is a function", shown("initialize", "initialize", "Table::Table(int)", "Table::Table(int)", "used", "used")},
	{"S1", "dlreload", "user", "one instruction is plug_one first, plug_two later", samePC("plug_one", "plug_two")},
	{"S1", "dlreload", "user", "and p1_inner first, p2_inner later", samePC("p1_inner", "p2_inner")},

	{"S4", "alias", "user", "the last name is shown", aliases("compute", "_compute\tcompute")},
	{"S4", "alias", "user", "the last name is shown", aliases("beta_z", "beta_a\tbeta_m\tbeta_z")},
	{"S4", "alias", "user", "shares of time", shares(40, "compute", 15, "beta_z", 40, "helper")},
	{"S5", "alias", "user", "two functions helper, of two modules", modules("helper", "alias1.c", "alias2.c")},
	{"S5", "alias", "user", "each has its own callers", calledBy("helper", 10, "m1_entry", 30, "m2_entry")},
	{"S5", "alias", "user", "and its own share", bothShares("helper", 10, 30)},

	{"S5", "interpose", "user", "two functions malloc", objects("malloc", "interpose", "libc.so.6")},
	{"S5", "interpose", "user", "two functions free", objects("free", "interpose", "libc.so.6")},
	{"S5", "interpose", "user", "churn calls the wrapper", callers("interpose!malloc", "churn")},
	{"S5", "interpose", "user", "the wrapper calls the library's", callers("libc.so.6!malloc", "interpose!malloc")},
	{"S5", "interpose", "user", "churn calls the other wrapper", callers("interpose!free", "churn")},
	{"S5", "interpose", "user", "which calls the library's", callers("libc.so.6!free", "interpose!free")},

	{"S6", "stripmain", "user", "one function for each region", objects("<static>@0x1040", "libstripped.so")},
	{"S6", "stripmain", "user", "one function for each region", objects("<static>@0x11c3", "libstripped.so")},
	{"S6", "stripmain", "user", "no other", onlyIn("totalcpu", "<static>@0x1040", "<static>@0x11c3", "pub_first", "pub_second")},
	{"S6", "stripmain", "user", "in the order of their addresses", inOrder("<static>@0x1040", "pub_first", "<static>@0x11c3", "pub_second")},
	{"S6", "stripmain", "user", "shares of time", shares(40, "<static>@0x1040", 5, "pub_first", 15, "<static>@0x11c3")},
	{"S6", "stripmain", "user", "callers of the first region", callers("<static>@0x1040", "pub_first", "pub_second")},
	{"S6", "stripmain", "user", "callers of the second region", callers("<static>@0x11c3", "pub_second")},
	{"S6", "stripmain", "user", "shares of the first region's callers", calledBy("<static>@0x1040", 30, "pub_first", 10, "pub_second")},

	{"S8", "entry", "user", "the shared body's time belongs to both entries", calledBy("master.0.body", 1, "body", 2, "alt")},
	{"S8", "entry", "user", "the body has no other callers", callers("master.0.body", "body", "alt")},
	{"S8", "entry", "user", "the entries have next to no time of their own", hardly("body", "alt")},
	{"S8", "entry", "user", "callers point at the entry that they called", callers("alt", "entries")},
	{"S8", "entry", "user", "an internal procedure is called by its module procedure", callers("mathmod::nested::inner", "mathmod::nested")},
	{"S8", "entry", "user", "which recurses", callers("mathmod::nested", "mathmod::nested", "entries")},

	{"S9", "clones", "user", "clones are functions", shown("poly.constprop.0", "poly [clone .constprop.0]", "scaled.isra.0", "scaled [clone .isra.0]", "partial.part.0", "partial [clone .part.0]")},
	{"S9", "clones", "user", "the split function's callers", callers("partial.part.0", "use_part1", "use_part2", "use_part3")},
	{"S9", "clones", "user", "their lines are those of the functions they were made from", fileLines("clones.c", map[string]int{
		"poly [clone .constprop.0]": 17, "scaled [clone .isra.0]": 19, "partial [clone .part.0]": 24})},
	{"S10", "clones", "user", "inlined functions are not in the list", absent("in_inner", "in_outer")},
	{"S10", "clones", "user", "their time is host's", sums("host", "host")},
	{"S10", "clones", "user", "only the call through the pointer", shares(1, "host2", 1, "both")},
	{"S10", "clones", "user", "the inlined copy is no call", callers("both", "host2")},

	{"S12", "outline", "user", "the cold part is called by its function", callers("process.cold", "process")},
	{"S12", "outline", "user", "which nobody else calls", callees("main", "process")},
	{"S12", "outline", "user", "the function contains its cold part", sums("process", "process", "process.cold", "on_error")},
	{"S12", "outline", "user", "and everything that main does", everything("main", "process")},
	{"S12", "outline", "user", "the error path is called from the cold part", callers("on_error", "process.cold")},
	{"S12", "outline", "user", "shares of time", shares(15, "process", 10, "on_error")},
	{"S12", "outline", "user", "the cold part takes longest", moreThan(3, "process.cold", "on_error")},

	{"S3", "cxx all", "user", "shares of time", shares(4, "geo::work(int)", 6, "geo::work(double, char const*)", 8, stringWork,
		5, "geo::Ring<int, 4>::run(int)", 5, "geo::Ring<long, 8>::run(long)", 5, "geo::Ring<int, 8>::run(int)",
		3, "Sq::area() const", 7, "Ci::area() const", 6, "main::{lambda(int)#1}::operator()(int) const",
		3, "geo::Vec::operator+(geo::Vec const&) const", 2, "(anonymous namespace)::hidden()",
		4, "thrower(int)", 2, "Guard::~Guard()", 5, "catcher() [clone .cold]", 5, "jumper(int)", 4, "jumping()")},
	{"S10", "cxx all", "user", "getx is inlined", absent("geo::Vec::getx() const")},
	{"S12", "cxx all", "user", "the catch block belongs to catcher", callers("catcher() [clone .cold]", "catcher()")},
	{"S12", "cxx", "user", "catcher contains all of it", sums("catcher()", "catcher()", "catcher() [clone .cold]", "thrower(int)", "Guard::~Guard()")},
	{"S12", "cxx", "user", "its callers are main only", callers("catcher()", "main")},

	{"S13", "jit_none", "user", "generated code is unknown", callers(unknownFunction, "main")},
	{"S16", "jit_none", "user", "it is called like any function", callees("main", unknownFunction, "called_back")},
	// No recorded stack of its callees has its frame: the collector lost it, and often also main.
	{"S16", "jit_none", "user", "nothing is made up between what was recorded", callers("called_back", "main", totalFunction)},
	{"S15", "jit_none", "user", "nobody told of it", unknownBecause("PC in no load object")},
	{"S13", "jit_api", "user", "shares of time", shares(600, "jit_loop_one", 300, "jit_loop_two", 450, "jit_loop_three")},
	{"S13", "jit_api", "user", "generated code calls", callers("called_back", "jit_callback")},
	{"S13", "jit_api", "user", "replaced code has the same address", samePC("jit_loop_one", "jit_loop_three")},
	{"S13", "jit_api", "user", "nothing is unknown", absent(unknownFunction)},

	{"S22", "plt_lazy plt_noplt plt_sec", "user", "only the right callers", callers("ext_inc", "caller_inc")},
	{"S22", "plt_lazy plt_noplt plt_sec", "user", "only the right callers", callers("ext_dec", "caller_dec")},
	{"S22", "plt_lazy plt_noplt plt_sec", "user", "only the right callees", callees("caller_inc", "ext_inc")},
	{"S22", "plt_lazy plt_noplt plt_sec", "user", "only the right callees", callees("caller_dec", "ext_dec")},
	{"S22", "plt_lazy plt_noplt", "user", "no linkage table", absent("@plt", "_init", "<static>@0x26d")},
	{"S22", "plt_sec", "user", "no linkage table but where it was recorded alone", callers("@plt", totalFunction)},
	{"S22", "plt_lazy plt_noplt plt_sec", "user", "twice as many calls", inclusives(2, "caller_inc", 1, "caller_dec")},
	{"S22", "plt_lazy plt_sec", "user", "the time is that of the call instruction", linkageTable()},

	{"S21", "signals", "user", "a caller's line is the call's, not that of what is done next", linesOf("main", "signals.c", 18, 20)},
	{"S24", "signals", "user", "the handler's helper", callers("alarm_helper", "on_alarm")},
	{"S24", "signals", "user", "the trampoline calls the handlers", callees("__restore_rt", "on_alarm", "on_usr1")},
	{"S24", "signals", "user", "and nobody else does", callers("on_alarm", "__restore_rt")},
	{"S24", "signals", "user", "and nobody else does", callers("on_usr1", "__restore_rt")},
	{"S24", "signals traps", "user", "the collector recorded nothing below the trampoline", lastRecorded("__restore_rt")},
	{"S24", "signals", "user", "handlers' time is inclusive time of the trampoline", sums("__restore_rt", "on_usr1", "alarm_helper", "on_alarm")},
	{"S24", "signals", "user", "shares of time", shares(50, "interrupted", 15, "on_usr1", 3, "self_kill")},

	{"S26", "tail", "user", "A seems to call them all", callees("A", "B", "C", "D")},
	{"S26", "tail", "user", "who tail-called is lost", callers("D", "A")},
	{"S26", "tail", "user", "who tail-called is lost", callers("C", "A")},
	{"S26", "tail", "user", "no call is made up", noCallees("B", "C", "D")},
	{"S26", "notail", "user", "the true chain", callers("D", "C")},
	{"S26", "notail", "user", "the true chain", callers("C", "B")},
	{"S26", "notail", "user", "the true chain", callers("B", "A")},
	{"S26", "tail notail", "user", "shares of time", shares(1, "B", 2, "C", 4, "D")},
	{"S26", "tail notail", "user", "A only calls", hardly("A")},
	{"S26", "tail notail", "user", "A contains everything", everything("A", "main")},

	{"S18", "deep deep_big", "user", "half of main's time is lost", inclusives(1, truncated, 1, "main")},
	{"S18", "deep deep_big", "user", "the root end is what is lost", callers(truncated, totalFunction)},
	{"S18", "deep deep_big", "user", "below it the recursion goes on", callees(truncated, "deep")},
	{"S18", "deep deep_big", "user", "the leaf is kept", calledBy("leaf", 1, "deep", 1, "shallow")},
	{"S18", "deep deep_big", "user", "all the time is the leaf's", onlyIn("totalcpu", "leaf")},

	{"S25", "traps", "user", "system calls", callers("syscall", "many_getppid")},
	{"S25", "traps", "user", "system calls", callers("read", "read_zero")},
	{"S25", "traps", "user", "the time shows at the instruction after the system call", afterSystemCall("libc.so.6", "syscall", "read", "mprotect")},
	{"S25", "traps", "user", "page faults are charged to the store", fileLines("traps.c", map[string]int{"fault_pages": 17})},
	{"S25", "traps", "user", "faults, too, with the repair below the handler", callers("mprotect", "on_segv", "segv_fix")},
	{"S24", "traps", "user", "the handler is called by the trampoline", callers("on_segv", "__restore_rt")},

	{"sum", "heap", "user", "leak_some", counts("leak_some", "heapalloccnt", 100, "heapallocbytes", 10000, "heapleakcnt", 100, "heapleakbytes", 10000)},
	{"sum", "heap", "user", "no_leak", counts("no_leak", "heapalloccnt", 300, "heapallocbytes", 60000, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"sum", "heap", "user", "grow", counts("grow", "heapalloccnt", 50, "heapallocbytes", 81600, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"sum", "heap", "user", "zeroed", counts("zeroed", "heapalloccnt", 40, "heapallocbytes", 12000, "heapleakcnt", 20, "heapleakbytes", 6000)},
	{"sum", "heap", "user", "path_one", counts("path_one", "heapalloccnt", 100, "heapallocbytes", 100000, "heapleakcnt", 25, "heapleakbytes", 25000)},
	{"sum", "heap", "user", "path_two", counts("path_two", "heapalloccnt", 100, "heapallocbytes", 300000, "heapleakcnt", 20, "heapleakbytes", 60000)},
	{"sum", "heap", "user", "hold_and_free", counts("hold_and_free", "heapalloccnt", 1000, "heapallocbytes", 50000, "heapleakcnt", 0, "heapleakbytes", 0)},
	{"sum", "heap", "user", "<Total>", counts(totalFunction, "heapalloccnt", 1690, "heapleakcnt", 165, "heapleakbytes", 101000)},
	{"sum", "heap_many", "user", "of the descendants only system()'s shell allocates", onlyBelow("heapalloccnt", "dash")},
	{"sum", "heap_many", "user", "<Total>", counts(totalFunction, "heapalloccnt", 54, "heapallocbytes", 2388, "heapleakcnt", 52, "heapleakbytes", 2236)},

	{"sum", "io", "user", "write_file", counts("write_file", "iowritecnt", 100, "iowritebytes", 102400)},
	{"sum", "io", "user", "read_file", counts("read_file", "ioreadcnt", 26, "ioreadbytes", 102400)},
	{"sum", "io", "user", "pread_file", counts("pread_file", "ioreadcnt", 50, "ioreadbytes", 5000)},
	{"sum", "io", "user", "stdio_file", counts("stdio_file", "iowritecnt", 1000, "iowritebytes", 8890, "ioreadbytes", 8890)},
	{"sum", "io", "user", "fail_open", counts("fail_open", "ioerrorcnt", 10)},
	{"sum", "io", "user", "pipe_io", counts("pipe_io", "iowritecnt", 20, "iowritebytes", 10240, "ioreadcnt", 20, "ioreadbytes", 10240)},

	{"S19", "sync", "user", "mutex waits", callers("pthread_mutex_lock", "hold_lock")},
	{"sum", "sync", "user", "only mutex and condition waits were recorded", onlyIn("sync", "pthread_mutex_lock", "wait_cond")},
	{"sum", "sync", "user", "each thread waits once for the condition", counts("wait_cond", "syncn", 2)},
	{"sum", "sync", "user", "for 200 ms, less the 20 times 2 ms that a thread sleeps in hold_lock", waitsPerThread(200-20*2, 200-20*2)},

	{"S15", "java", "user", "Java methods have no symbols", unknownBecause("PC in no load object")},
	{"S14", "java", "user", "without Java data nothing is a Java method", noKind("java")},
	{"S13", "java", "user", "the interpreter is generated code that was announced", objects("Interpreter", "<DYNAMIC_FUNCTIONS>")},

	{"problem", "recur_raw", "user", "ticks of 100 ms are accounted as 10", says(1, "warning", "cpu-time-mismatch", "profile")},
	{"problem", "threads_raw", "user", "threads were not profiled", says(1, "warning", "cpu-time-mismatch", "profile")},
	{"problem", "recur", "user", "nothing of this kind", says(0, "warning", "cpu-time-mismatch", "")},
	{"problem", "recur recur_raw", "user", "the timer's period was changed", says(1, "warning", "collector-warning", "log.xml")},
	{"problem", "heap", "user", "aligned_alloc is not traced", says(1, "info", "untraced-calls", "heaptrace")},
	{"problem", "heap", "user", "what realloc frees is not recorded", says(1, "info", "realloc-without-old-address", "heaptrace")},
	{"problem", "forkexec", "user", "a descendant without data", says(1, "info", "descendant-without-data", "_f2.er")},
	{"problem", "forkexec", "user", "all descendants without data", says(3, "info", "descendant-without-data", "")},
	{"problem", "forkexec", "user", "a descendant's log", says(1, "warning", "collector-warning", "_f2_x1.er/log.xml")},
}

const (
	unknownFunction = "<Unknown>"
	truncated       = "<Truncated-stack>"
	stringWork      = "geo::work(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"
)

func TestTruth(t *testing.T) { testRules(t, truths) }
