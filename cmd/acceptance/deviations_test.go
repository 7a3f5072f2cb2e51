package acceptance

// deviations are the recordings in which shares of time differ from what the sources say. The
// goldens differ in the same way: TestFunctions, TestLines and TestThreadsAndCPUs compare the
// values with gprofng's. All other recordings must be within the tolerance, and these within the
// percentages given here.
var deviations = map[string]deviation{
	"omp_gcc": {
		few: map[string]int{"line 34": -22, "line 21": -11, "line 24": 11},
	},
	"omp_clang": {
		few:   map[string]int{"line 34": 17},
		speed: map[string]int{"row": -30, "imbalance": 41, ".omp_outlined..6": 41},
	},
	"recur": {
		speed: map[string]int{"is_odd": 32, "flat": 23},
	},
	"recur_dw5": {
		few:   map[string]int{"is_even": -11},
		speed: map[string]int{"fact": -15, "is_odd": 57, "flat": 26},
	},
	"recur_raw": {
		few: map[string]int{"fact": -20, "is_even": -20, "is_odd": 60, "flat": 60},
	},
	"threads": {
		few: map[string]int{"worker_a": -24, "thread 1 of 4": -11},
	},
	"forkexec": {
		few: map[string]int{"grandchild_work": 18, "exec_work": -11, "process _f1_f1": 18, "process _x1_x1": -14},
	},
	"alias": {
		speed: map[string]int{"helper": 12, "helper below m1_entry": -22, "helper 1": -22},
	},
	"stripmain": {
		speed: map[string]int{"<static>@0x11c3": 24},
	},
	"outline": {
		few: map[string]int{"process": -15, "on_error": 22},
	},
	"cxx": {
		few: map[string]int{"geo::work(int)": 19, "Ci::area() const": -24, "main::{lambda(int)#1}::operator()(int) const": -13,
			"geo::Vec::operator+(geo::Vec const&) const": 30, "(anonymous namespace)::hidden()": -11, "Guard::~Guard()": 18},
		speed: map[string]int{"geo::Ring<int, 4>::run(int)": 47, "jumping()": -45},
	},
	"all": {
		few: map[string]int{"geo::Ring<int, 4>::run(int)": -19, "geo::Ring<long, 8>::run(long)": -31, "Sq::area() const": -26,
			"Ci::area() const": -17, "geo::Vec::operator+(geo::Vec const&) const": -30, "(anonymous namespace)::hidden()": -39, "thrower(int)": 26,
			"Guard::~Guard()": 48, "catcher() [clone .cold]": 15},
		speed: map[string]int{"geo::Ring<int, 8>::run(int)": -41, "main::{lambda(int)#1}::operator()(int) const": 70, "jumping()": 47},
	},
	"signals": {
		few: map[string]int{"self_kill": -13},
	},
	"notail": {
		few:   map[string]int{"D": -18},
		speed: map[string]int{"C": 34},
	}}
