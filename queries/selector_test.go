package queries

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// TestSelectors resolves selectors in a store of two experiments, some of them labeled.
func TestSelectors(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	list := open(t, store).Experiments()
	list[0].Labels = map[string]string{"night": "1", "host": "other", "branch": "main"}
	list[1].Labels = map[string]string{"night": "2"}
	list = append(list, Experiment{Entry: storedir.Entry{ExperimentID: "cc", Path: "/x/a,b=c.er"}, Name: "a,b=c.er"})
	s := &selection{ctx: t.Context(), whole: func() (*DB, error) { return Open(t.Context(), store) }, experiments: list}
	for selector, want := range map[string]string{
		"00000000000000aa": "aa", "test.1": "aa bb", "tuesday/test.1.er/": "bb", "a,b=c": "cc", "a,b=c.er": "cc",
		"test.*": "aa bb", "*/test.1.er": "aa bb", "mon*/test.?.er": "aa", "/data/*/*.er": "aa bb", "/x/*": "cc", "*": "aa bb cc", "t[er]*": "aa bb",
		"night=1": "aa", "night=2, host=box": "bb", "host=other": "aa", "host=box": "bb", "samples=3": "bb", "night=1,test.1.er": "aa",
		"started=2026-01-02": "aa", "started=2026-01-02T03:04:05Z": "aa", "status=complete,*day/*": "aa bb",
		"night=1..2": "aa bb", "night=2..": "bb", "night=..1": "aa", "night=..": "aa bb", "night=1..9, host=box..other": "aa bb", "samples=4..100": "aa",
		"started=2026-01-02..2026-01-02": "aa", "started=..2026-01-02T03": "aa", "started=2026-01-02T03:04:05Z..": "aa", "started=2026-01..2026-01-02": "aa",
		"started=2026-01-01..2026-01-01": `no experiment is in started=2026-01-01..2026-01-01 (there are 2026-01-02T03:04:05 to `,
		"night=3..":                      `no experiment is in night=3.. (there are 1 to 2)`,
		"night=2..1":                     `1 is before 2`,
		"path=../x":                      `no experiment in the store has path=../x`,
		"comment=a..":                    `no experiment is in comment=a.. (none has a value)`,
		"nothing":                        `no experiment matches "nothing"`,
		"*/*/nothing":                    `no experiment in the store has a name or path like`,
		"monday/*.er,night=2":            `no experiment matches all of "monday/*.er,night=2"`,
		"host=bux":                       `no experiment in the store has host=bux, did you mean box?`,
		"brunch=main":                    `"brunch" is neither a label nor a column of experiments, did you mean branch?`,
		"":                               `no experiment matches ""`,
		"test.2.er":                      `did you mean`,
		"[":                              `syntax error in pattern`,
		"started=2025":                   `no experiment in the store has started=2025`,
		"branch=main,branch=x":           `no experiment in the store has branch=x`,
		"x' OR 1=1 --":                   `no experiment`,
		"host=box' OR '1' = '1":          `no experiment`,
	} {
		chosen, err := s.any([]string{selector})
		var ids []string
		for _, id := range slices.Sorted(maps.Keys(chosen)) {
			ids = append(ids, strings.TrimLeft(id, "0"))
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", selector, got, want)
		}
		if err != nil && selector != "[" && !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v is another error", selector, err)
		}
	}
	if chosen, err := s.any([]string{"night=1", "cc"}); err != nil || len(chosen) != 2 || !chosen[list[0].ExperimentID] || !chosen["cc"] {
		t.Errorf("any of two selectors: %v, %v", chosen, err)
	}
}
