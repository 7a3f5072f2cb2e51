package listing

import (
	"fmt"
	"testing"
)

// The lists of an experiment are in the batch once its draft is committed.
func TestBook(t *testing.T) {
	b := NewRegistry()
	for _, test := range []struct {
		experiment string
		contents   []int64
		keep       bool
		want       string
	}{
		{"a", []int64{10, 20, 10}, false, "[0 true false 1 true false 0 false false]"},
		{"b", []int64{20, 30}, true, "[0 true false 1 true false]"},
		{"c", []int64{30, 40, 20}, false, "[1 false true 2 true false 0 false true]"},
		{"d", []int64{50, 40, 50, 30}, true, "[2 true false 3 true false 2 false false 1 false true]"},
		{"e", []int64{40, 60}, true, "[3 false true 4 true false]"},
	} {
		d := b.Begin()
		var got []any
		for _, content := range test.contents {
			earlier := d.IsCommitted(content)
			number, first := d.Intern(content)
			if earlier != d.IsCommitted(content) {
				t.Errorf("%s: numbered, %d is of an earlier experiment: %v", test.experiment, content, !earlier)
			}
			got = append(got, number, first, earlier)
		}
		if test.keep {
			d.Commit()
		}
		if s := fmt.Sprint(got); s != test.want {
			t.Errorf("%s: %s, want %s", test.experiment, s, test.want)
		}
	}
}

// A draft that was given up does not see the lists of drafts that were committed later.
func TestLeftDraft(t *testing.T) {
	b := NewRegistry()
	left, next := b.Begin(), b.Begin()
	next.Intern(1)
	next.Intern(2)
	next.Commit()
	if number, first := left.Intern(2); number != 0 || !first {
		t.Errorf("%d, %v", number, first)
	}
}
