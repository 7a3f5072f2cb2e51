package data

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// truth is what a program printed about its data: n objects of `size` bytes each, `stride` bytes
// apart.
type truth struct {
	address, size, n, stride uint64
	expected                 []expectation // each of them is right
	scope                    string        // kind and, optionally, name of the object's scope
	function                 string        // the only function for which this is true; "": all
}

// expectation matches descriptors. In pattern, * matches any text.
type expectation struct {
	whole   *regexp.Regexp
	outer   []*regexp.Regexp // match the aggregates that the object is in
	pattern string
}

func newExpectation(pattern string) expectation {
	match := func(p string) *regexp.Regexp {
		return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$")
	}
	e := expectation{whole: match(pattern), pattern: pattern}
	for i, c := range pattern {
		if c == '}' && (strings.HasPrefix(pattern[i:], "}.{") || pattern[i:] == "}.*") {
			e.outer = append(e.outer, match(pattern[:i+1]))
		}
	}
	return e
}

// covers reports whether the byte at an address is in one of the objects.
func (r *truth) covers(address uint64) bool {
	if address < r.address {
		return false
	}
	at := address - r.address
	if r.stride == 0 {
		return at < r.size
	}
	return at/r.stride < r.n && at%r.stride < r.size
}

// readTruth reads the statements that a recording's program printed.
func readTruth(t *testing.T, name string) (rows []truth) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*", name+".truth"))
	if err != nil || len(found) != 1 {
		t.Fatal(name, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]expectation{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			t.Fatalf("%s: %q", name, line)
		}
		var numbers [4]uint64
		for i := range numbers {
			base := 10
			if i == 0 {
				base = 16
			}
			if numbers[i], err = strconv.ParseUint(f[i], base, 64); err != nil {
				t.Fatal(err)
			}
		}
		if known[f[4]] == nil {
			for _, d := range strings.Split(f[4], " | ") {
				known[f[4]] = append(known[f[4]], newExpectation(d))
			}
		}
		rows = append(rows, truth{numbers[0], numbers[1], numbers[2], numbers[3], known[f[4]], f[5], f[6]})
	}
	return rows
}

// find returns the true values of an access: the entry for its function or, if there is none, the
// last entry, because memory is reused.
func find(rows []truth, a *access) *truth {
	var found *truth
	for i := range slices.Backward(rows) {
		switch r := &rows[i]; {
		case !r.covers(a.address):
		case r.function == a.function:
			return r
		case r.function == "" && found == nil:
			found = r
		}
	}
	return found
}

// verdict is the comparison of an access's data object with the truth.
type verdict int

const (
	right  verdict = iota
	coarse         // the aggregate is right; or it is the element in which the access begins, next to the right one
	unresolved
	wrong
	verdicts
)

func (v verdict) String() string { return []string{"right", "coarse", "unresolved", "wrong"}[v] }

func judge(rows []truth, r *truth, a *access) verdict {
	v := judgeOne(r, a)
	if v == wrong && a.agreement == "unchecked" && (a.unaddressed || a.address%pageSize == 0) {
		// If an instruction accesses several members, the access may begin on the page before the
		// recorded address. Then the object at the address does not say which access it was.
		for before := a.address - 1; before > a.address-maxOperand; before-- {
			at := *a
			at.address = before
			if r := find(rows, &at); r != nil && judgeOne(r, a) == right {
				return coarse
			}
		}
	}
	return v
}

const (
	pageSize   = 4096
	maxOperand = 64 // bytes of the largest memory access
)

func judgeOne(r *truth, a *access) verdict {
	for _, e := range r.expected {
		if e.whole.MatchString(a.descriptor) {
			if !strings.HasPrefix(a.scopeKind+" "+a.scope, r.scope) {
				return wrong
			}
			return right
		}
	}
	if a.kind == "unknown" || a.kind == "unknown_element" {
		return unresolved
	}
	for _, e := range r.expected {
		for _, o := range e.outer {
			if o.MatchString(a.descriptor) {
				return coarse
			}
		}
	}
	return wrong
}
