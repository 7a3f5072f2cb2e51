package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// step is a verb into which faults are injected, after the verbs in first have run without faults.
type step struct {
	name    string
	first   [][]string // verbs with their arguments
	verb    []string
	before  state
	after   state
	partial bool           // a fault may leave some recordings as before and others as after
	few     map[string]int // in the short run: which calls fail, by number, for each injection
}

// lifeSteps are the verbs that change a store of many small recordings.
var lifeSteps = []step{
	{
		name: "ingest", verb: []string{"ingest", "--jobs", "2", "DIR"},
		before: truth(), after: truth(plain, plain, plain), partial: true,
		few: map[string]int{"killed at link": 2},
	},
	{
		name:   "ingest of a chunk",
		verb:   []string{"ingest", "--jobs", "2", "--plan", "PLAN", "--chunk", "0"},
		before: truth(), after: truth(plain, plain, plain), partial: true,
		few: map[string]int{"killed at fsync": 3},
	},
	{
		name:   "compact",
		first:  [][]string{{"ingest", "DIR"}},
		verb:   []string{"compact", "--jobs", "1"},
		before: truth(plain, plain, plain), after: truth(plain, plain, plain),
		few: map[string]int{"killed at link": 1, "write": 7},
	},
	{
		name:   "compact, nothing kept",
		first:  [][]string{{"ingest", "DIR"}, {"compact"}, {"forget", "night=0"}},
		verb:   []string{"compact", "--keep", "0", "--purge", "--jobs", "1"},
		before: truth("", plain, plain), after: truth("", plain, plain),
		few: map[string]int{"killed at unlink": 9},
	},
	{
		name:   "forget",
		first:  [][]string{{"ingest", "DIR"}, {"compact"}},
		verb:   []string{"forget", "night=0"},
		before: truth(plain, plain, plain), after: truth("", plain, plain),
		few: map[string]int{"killed at fsync": 1},
	},
	{
		name:   "forget all but the sums",
		first:  [][]string{{"ingest", "DIR"}},
		verb:   []string{"forget", "--keep-rollups", "night=0"},
		before: truth(plain, plain, plain), after: truth(summed, plain, plain),
		few: map[string]int{"killed at rename": 1},
	},
	{
		name:   "compact of sums",
		first:  [][]string{{"ingest", "DIR"}, {"forget", "--keep-rollups", "night=0"}},
		verb:   []string{"compact", "--jobs", "1"},
		before: truth(summed, plain, plain), after: truth(summed, plain, plain),
		few: map[string]int{"killed at mkdir": 3, "open": 20},
	},
	{
		name:   "label",
		first:  [][]string{{"ingest", "DIR"}},
		verb:   []string{"label", "night=0", "kept=yes"},
		before: truth(plain, plain, plain), after: truth(labeled, plain, plain),
		few: map[string]int{"killed at link": 1},
	},
	{
		name:   "resymbolize",
		first:  [][]string{{"ingest", "DIR"}, {"compact"}, {"label", "night=1", "kept=yes"}, {"forget", "--keep-rollups", "night=2"}},
		verb:   []string{"resymbolize", "--jobs", "2", "--symfs", "SYMBOLS"},
		before: truth(plain, labeled, summed), after: truth(named, both, summed), partial: true,
		few: map[string]int{"killed at link": 2, "open": 60},
	},
	{
		name:   "compact of what was made again",
		first:  [][]string{{"ingest", "DIR"}, {"resymbolize", "--symfs", "SYMBOLS", "night=0"}},
		verb:   []string{"compact", "--keep", "0", "--jobs", "1"},
		before: truth(named, plain, plain), after: truth(named, plain, plain),
		few: map[string]int{"killed at unlink": 5},
	},
}

// Whichever call of a verb fails, or kills the program, a store of shared batches is in the state
// before or after: it is intact, sums are right and nothing is there twice. Running the verb again
// leads to the state after; deleted experiments do not come back.
func TestLifeUnderFaults(t *testing.T) {
	tracer := strace(t)
	for _, s := range lifeSteps {
		t.Run(s.name, func(t *testing.T) {
			l := newLife(t)
			t.Parallel()
			for _, first := range s.first {
				l.does(l.verb(first...))
			}
			prepared := l.store
			l.expect("before", is(s.before))
			for _, x := range injections {
				t.Run(x.name, func(t *testing.T) {
					l := &life{bench: &bench{T: t, binary: l.binary, cache: l.cache}, dir: l.dir, symbols: l.symbols}
					n := s.few[x.name]
					for ; !*long && n > 0 && !l.faulty(tracer, prepared, &s, x.calls, x.fault, n); n /= 2 {
					}
					for n = 1; *long && n <= mostCalls && l.faulty(tracer, prepared, &s, x.calls, x.fault, n); n++ {
					}
				})
			}
		})
	}
}

// faulty injects a fault into a verb on a copy of a store. It reports whether a call failed.
func (l *life) faulty(tracer, prepared string, s *step, calls, fault string, n int) (done bool) {
	l.Helper()
	l.begin(prepared)
	if slices.Contains(s.verb, "PLAN") { // the plan contains the path of the store
		l.plan = filepath.Join(l.TempDir(), "a.plan")
		l.does(l.verb("plan", "--recursive", "--chunks", "1", "-o", "PLAN", "DIR"))
	}
	what := fmt.Sprintf("%s: %s at call %d of %s", s.name, fault, n, calls)
	done, code, out := l.inject(tracer, calls, fault, n, l.verb(s.verb...)...)
	if !done {
		return false
	}
	injected.Add(1)
	if crashed(out, fault) {
		l.Errorf("%s: exit status %d\n%s", what, code, out)
	}
	made := false
	l.expect(what, func(got state) bool {
		made = maps.Equal(got, s.after)
		switch {
		case made:
			return true
		case code == 0:
			return false
		case s.partial:
			return got.among(s.before, s.after)
		}
		return maps.Equal(got, s.before)
	})
	if !made || maps.Equal(s.before, s.after) {
		l.does(l.verb(s.verb...))
		l.expect(what+", and again", is(s.after))
	}
	l.does(l.verb("ingest", "DIR"))
	l.expect(what+", and ingested again", is(s.after))
	if left := leftovers(l.T, l.store); len(left) > 0 {
		l.Errorf("%s: left %v", what, left)
	}
	if err := os.RemoveAll(l.store); err != nil {
		l.Error(err)
	}
	return true
}

// among reports whether each recording is as in one of the states.
func (s state) among(states ...state) bool {
	for n := range nights * nightJobs {
		if !slices.ContainsFunc(states, func(other state) bool { return other[job(n)] == s[job(n)] }) {
			return false
		}
	}
	return true
}
