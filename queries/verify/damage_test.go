package verify

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// damages are changes of a correct store: the first occurrence of text is replaced by another text,
// and then exactly one doubt is wanted.
var damages = []struct{ want, text, by string }{
	{"experiments: the row is missing, repeated, or has another status than the commit", "1500ms 1 8 complete", "1500ms 1 8 failed"},
	{"processes: a key is not unique", "  1 4711 1 app 1500ms 8 complete", "  1 4711 1 app 1500ms 8 complete\n  1 4712 1 app 1500ms 8 complete"},
	{"pc_values: a row belongs to no mode", "  7 totalcpu 3 40ms", "  0 totalcpu 3 40ms"},
	{"modules: a load object is unknown", "  804 903 b.c", "  804 999 b.c"},
	{"functions: a number is not unique", "  6 15 903 803 h", "  6 16 903 803 k k k '' inlined 0 0 0\n  6 15 903 803 h"},
	{"functions: a load object or module is unknown", "  2 11 903 803 main", "  2 11 903 899 main"},
	{"functions: there are two rows for <Total>", "  6 15 903 803 h h h '' inlined", "  6 15 903 803 <Total> h h '' artificial"},
	{"functions: two functions have the same key", "g g g g normal", "g g g f normal"},
	{"locations: rows are not numbered 0, 1, 2 in order", "  4 114 903 5", "  5 114 903 5"},
	{"locations: a function or load object is unknown, or an identifier is not unique", "  4 114 903 5", "  4 113 903 5"},
	{"locations: a function or load object is unknown, or an identifier is not unique", "  4 114 903 5", "  4 114 903 9"},
	{"inline_frames: an instruction is unknown", "  2 0 6 a.h", "  9 0 6 a.h"},
	{"inline_frames: a function is unknown, or levels are not numbered 0, 1, 2 in order", "  2 1 4 a.h", "  2 2 4 a.h"},
	{"inline_frames: a name looks like a path", "  6 15 903 803 h h", "  6 15 903 803 h:1~>~h h"},
	{"tree_frames: rows are not numbered 0, 1, 2 in order", "  5 native 999", "  6 native 999"},
	{"tree_frames: the part of a frame is unknown, or does not fit its word", "  3 native 8208", "  3 other 8208"},
	{"tree_frames: a location is wrong", "  5 native 999 0", "  5 native -1 0"},
	{"tree_frames: an instruction is unknown", "  3 native 8208 3 3 '' 3 3", "  3 native 8208 3 9 '' 3 3"},
	{"tree_frames: a frame has neither a word nor a location, or the root's has one", "  3 native 8208 3 3 '' 3 3", "  3 '' null null null '' null null"},
	{"tree_frames: a frame is unused", "  6 5 0 5", "  6 5 0 3"},
	{"a tree's nodes are not numbered 0, 1, 2 in order", "  6 5 0 5", "  7 5 0 5"},
	{"a tree's node has an impossible parent or number of descendants", "  6 5 0 5", "  6 0 0 5"},
	{"a tree's node has descendants outside of its parent's subtree", "  3 1 0 3", "  3 1 2 3"},
	{"a tree's node has a wrong number of descendants", "  2 1 2 2", "  2 1 3 2"},
	{"stack_tree: a frame is wrong", "  6 5 0 5", "  6 5 0 6"},
	{"recorded_stacks: rows are not numbered 0, 1, 2 in order", "  4 1 0 0 no", "  5 1 0 0 no"},
	{"recorded_stacks: a node is unknown", "  3 1 6 0 ''", "  3 1 7 0 ''"},
	{"recorded_stacks: a leaf is wrong", "  1 1 4 2 ''", "  1 1 4 1 ''"},
	{"recorded_stacks: a stack is empty without a reason", "no~call~stack~recorded", "''"},
	{"samples: a sample is out of order, or of an unknown kind", "  4 clock", "  3 clock"},
	{"samples: a sample is out of order, or of an unknown kind", "  4 clock", "  4 other"},
	{"clock_samples: a sample is of another kind", "  4 clock", "  4 heap"},
	{"event_fields: rows are not in the order of sample and position", "clock_samples sample state", "event_fields sample position number\n  2 0 7\n  1 0 7\nclock_samples sample state"},
	{"samples: a stack is unknown", "1080ms 4", "1080ms 5"},
	{"stack_values: a key is not unique", "  1 totalcpu 20ms 2", "  0 totalcpu 20ms 2"},
	{"stack_values: a metric or stack is unknown", "  1 totalcpu 20ms 2", "  9 totalcpu 20ms 2"},
	{"stack_values: a value differs from the sum of the samples", "  1 totalcpu 20ms 2", "  1 totalcpu 21ms 2"},
	{"stack_values: a value differs from the sum of the samples", "  1 totalcpu 20ms 2", "  1 totalcpu 20ms 3"},
	{"usage_values: a metric or process is unknown", "  1 4711 0 1 totalcpu", "  2 4711 0 1 totalcpu"},
	{"usage_values: a value differs from the sum of the samples", "  1 4711 0 1 totalcpu", "  1 4711 0 2 totalcpu"},
	{"function_values: the values differ from the values of the stacks", "  1 totalcpu 3 20ms 50ms", "  1 totalcpu 3 20ms 51ms"},
	{"module_values: the values differ from the values of the stacks", "  7 totalcpu 803 20ms", "  7 totalcpu 803 21ms"},
	{"object_values: the values differ from the values of the stacks", "  7 totalcpu 903 60ms", "  7 totalcpu 902 60ms"},
	{"call_values: the values differ from the values of the stacks", "  1 totalcpu 3 callee 4 30ms", "  1 totalcpu 3 caller 4 30ms"},
	{"call_nodes: the values differ from the values of the stacks", "  10 9 0 2 1", "  10 9 0 2 2"},
	{"tree_values: the values differ from the values of the stacks", "  7 totalcpu 9 10ms 10ms", "  7 totalcpu 9 10ms 0"},
	{"line_values: the values differ from the values of the stacks", "  7 totalcpu 4 b.c 30", "  7 totalcpu 4 b.c 31"},
	{"source_values: the values differ from the values of the stacks", "  7 totalcpu b.c 30 40ms", "  3 totalcpu b.c 30 40ms"},
	{"pc_values: the values differ from the values of the stacks", "  7 totalcpu 3 40ms", "  7 totalcpu 3 41ms"},
	{"function_values: an unknown function has no reason", "PC~in~no~load~object", "''"},
	{"listings: a function has no instructions", "  903 5 3 703", "  903 5 9 703"},
	{"instructions: a PC has a value, but no instruction starts there", "  2 8208 1 retq", "  2 8209 1 retq"},
	{"instructions: a function and its body have the same instruction", "  903 5 3 703\n", "  903 5 3 703\n  903 7 2 702\n" +
		"functions function_no function_id load_object_id module_id name kind body_of offset size\n  7 16 903 804 k body 13 8192 64\n"},
	{"source_files: a file has no lines", "  a.c 4 704", "  a.c 5 704"},
	{"instructions: rows of lists are out of order", "  1 4181 2 jne", "  1 4176 2 jne"},
	{"source_lines: rows of lists are out of order", "  4 9 int", "  4 8 int"},
}

// unreachable lists errors, with the reason, that no text for the builder of test stores can cause.
var unreachable = map[string]string{
	"there are rows of an experiment that the commit does not name":       "rows get the id of an experiment of their batch",
	"an experiment has no row":                                            "its other rows are found first",
	"rows are not in the order of experiments":                            "the builder sorts them",
	"more rows than fit in memory":                                        "no block is smaller than the store",
	"cannot read %s":                                                      "columns of other types are no part of tables",
	"recorded_stacks: a rule left a stack without frames":                 "such a stack also has another depth, unless a mode shows nothing of it",
	"stacks: two different stacks have the same identifier":               "it takes a collision of hashes",
	"call_nodes: two nodes have the same identifier":                      "it takes a collision of hashes",
	"function_rollup: the values differ from the values of the functions": "the builder makes the table of the values",
	"it has data objects":                                                 "TestAllIsProvedWithoutSQL in package queries",
	"it has waits, fields of tracepoints or counts":                       "TestCheckOfFields in package queries",
	"samples: a control group has no path, and no problem says so":        "TestCheckOfFields in package queries",
}

func TestDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.want, func(t *testing.T) {
			text := strings.Replace(storetest.Two, d.text, d.by, 1)
			if text == storetest.Two {
				t.Fatalf("there is no %q", d.text)
			}
			store := storetest.New(t, text)
			c, err := storedir.ReadContents(store)
			if err != nil {
				t.Fatal(err)
			}
			doubts, err := Batch(t.Context(), store, &c.Batches[0], 1<<30, func() {})
			if len(doubts) == 1 {
				err = doubts[0].Err
			}
			if err == nil || err.Error() != d.want {
				t.Errorf("%q for %q: %v, %v", d.by, d.text, err, doubts)
			}
		})
	}
}

// TestEveryDoubtIsTested checks that damages wants each error text in the sources.
func TestEveryDoubtIsTested(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) < 10 {
		t.Fatal(sources, err)
	}
	found := 0
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`(?:errors\.New|fmt\.Errorf)\("([^"%]*(?:%s)?[^"%]*)"`).FindAllStringSubmatch(string(source), -1) {
			text := strings.TrimPrefix(m[1], "%s: ")
			if found++; unreachable[text] != "" {
				continue
			}
			tested := false
			for _, d := range damages {
				tested = tested || strings.HasSuffix(d.want, text)
			}
			if !tested {
				t.Errorf("%s: no store has %q", name, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d errors", found)
	}
}
