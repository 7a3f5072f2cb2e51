package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// command matches a stackmill command in a page.
var command = regexp.MustCompile("`stackmill ([^`\n]*)`")

// empty are the commands whose answer may be empty in the test's store.
var empty = []string{"problems", "report memory-sources"}

// The commands on the pages about migrating from other programs work, and print something.
func TestMigration(t *testing.T) {
	store := cookbookStore(t)
	args := []string{"ingest", "--store", store, "--symfs", "../../testdata/wall/symfs", "--no-system-debug"}
	for _, name := range strings.Fields("maps_lock disk_all pipes_kmem irq_all stat_interval") {
		args = append(args, "../../testdata/wall/"+name+".data")
	}
	if _, errs, status := call(args...); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for page, least := range map[string]int{"from-gprofng.md": 60, "from-perf.md": 45} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := command.FindAllStringSubmatch(string(text), -1)
		if len(found) < least {
			t.Errorf("%s has %d commands", page, len(found))
		}
		done := map[string]bool{}
		for _, m := range found {
			args := wordsOf(m[1])
			if done[m[1]] || args[0] == "ingest" { // the store has its result
				continue
			}
			done[m[1]] = true
			if args[0] != "version" { // version refuses --store
				args = append(args, "--store", store)
			}
			out, errs, status := call(args...)
			if status != 0 || errs != "" || strings.Count(out, "\n") < 2 || strings.Contains(out, "There is nothing") {
				if !slices.ContainsFunc(empty, func(start string) bool { return strings.HasPrefix(m[1], start) }) {
					t.Errorf("%s: stackmill %s: status %d: %s%.300s", page, m[1], status, errs, out)
				}
			}
		}
	}
}

// wordsOf splits a command at blanks outside of quotation marks, as a shell does.
func wordsOf(line string) (words []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|[^ ]+`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			words = append(words, m[1])
		} else {
			words = append(words, m[0])
		}
	}
	return words
}
