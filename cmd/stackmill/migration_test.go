package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// command is a command of ours in a page.
var command = regexp.MustCompile("`stackmill ([^`\n]*)`")

// empty are the commands whose answer may be empty in the store of the test.
var empty = []string{"problems", "report memory-sources"}

// The commands of the pages that lead from other programs work, and show something.
func TestMigration(t *testing.T) {
	store := cookbookStore(t)
	for page, least := range map[string]int{"from-gprofng.md": 60, "from-perf.md": 35} {
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
			if done[m[1]] || args[0] == "ingest" { // what is in the store
				continue
			}
			done[m[1]] = true
			if args[0] != "version" { // which refuses a store
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

// wordsOf cuts a command as a shell does: at blanks outside of quotation marks.
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
