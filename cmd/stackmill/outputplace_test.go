//go:build cgo

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/cachetag"
	"stackmill/internal/exit"
	"stackmill/internal/testfiles"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// everyCommand calls f for each verb and subcommand, with the words that call it.
func everyCommand(f func(words []string, c *cobra.Command)) {
	var walk func(words []string, c *cobra.Command)
	walk = func(words []string, c *cobra.Command) {
		f(words, c)
		for _, sub := range c.Commands() {
			walk(append(words[:len(words):len(words)], sub.Name()), sub)
		}
	}
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	walk(nil, root)
}

// No verb writes into a store, the cache or a recording, even through links. Flags for outputs are
// found by their type, and every flag whose help says that it is written has that type.
func TestOutputPlaces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "home"))
	store, other := storetest.New(t, storetest.Two), storetest.New(t, storetest.Two)
	tables := filepath.Join(dir, "disk")
	commits, err := filepath.Glob(filepath.Join(store, storedir.CommitsDir, "*.json"))
	err = errors.Join(err,
		os.MkdirAll(filepath.Join(other, storedir.StagingDir), 0o777),
		os.MkdirAll(filepath.Join(dir, "home", "stackmill", "mirror"), 0o777),
		os.MkdirAll(filepath.Join(dir, "test.1.er"), 0o777),
		os.WriteFile(filepath.Join(dir, "test.1.er", "log.xml"), nil, 0o666),
		os.WriteFile(filepath.Join(dir, "perf.data"), []byte("PERFILE2"), 0o666),
		os.Rename(filepath.Join(store, storedir.TablesDir), tables),
		os.Symlink(tables, filepath.Join(store, storedir.TablesDir)),
		os.Symlink(store, filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(store, "new"), filepath.Join(dir, "nowhere")),
		os.Symlink(commits[0], filepath.Join(dir, "file")))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.MkdirAll("kept/folder", 0o777); err != nil {
		t.Fatal(err)
	}
	cachetag.Put("kept")
	relative, err := filepath.Rel(dir, store)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := "the store "+store, "the store "+other
	cache, recording := "the cache ", "the recording "
	places := map[string]string{
		store: ours, commits[0]: ours, store + "/stackmill.duckdb": ours, store + "/new": ours, store + "/new/folder/x": ours,
		store + "/tables/functions/x.parquet": ours, tables + "/functions/x.parquet": ours, relative + "/commits/../journal.json": ours,
		"link/new": ours, "file": ours, "link/commits/x": ours,
		other + "/new": theirs, "home/stackmill/x": cache, "home/stackmill/mirror/x": cache, "kept/folder/x": cache,
		"test.1.er": recording, "test.1.er/log.xml": recording, "test.1.er/new": recording, "perf.data": recording,
	}
	written := regexp.MustCompile(`file to write|write .*\bfile|\bkept, shared`)
	flags := 0
	everyCommand(func(words []string, c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Value.(*outputPath); !ok {
				if f.Value.Type() == "string" && written.MatchString(f.Usage) {
					t.Errorf("%v: --%s is no outputPath: %s", words, f.Name, f.Usage)
				}
				return
			}
			flags++
			for place, what := range places {
				if f.Name == cacheFlag && what == cache {
					continue
				}
				args := append(words[:len(words):len(words)], "--store", store, "--"+f.Name, place)
				if c.Args(c, []string{"x"}) == nil {
					args = append(args, "x")
				}
				out, errs, status := call(args...)
				if status != exit.Failed || out != "" || !strings.Contains(errs, "--"+f.Name+": "+place+" belongs to "+what) {
					t.Errorf("%v --%s %s: status %d: %s", words, f.Name, place, status, errs)
				}
			}
		})
	})
	if flags < 9 {
		t.Errorf("%d flags were tried", flags)
	}
	// check does not accept links as parts of a store.
	if err := errors.Join(os.Remove(filepath.Join(store, storedir.TablesDir)), os.Rename(tables, filepath.Join(store, storedir.TablesDir))); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := call("check", "--store", store); status != 0 {
		t.Errorf("the store is wrong: %s%s", out, errs)
	}
}

// Verbs create files through atomicfile only.
func TestOutputsAreOne(t *testing.T) {
	makes := regexp.MustCompile(`os\.(Create|OpenFile|WriteFile)\(`)
	for _, folder := range printers {
		for _, file := range testfiles.Sources(t, filepath.Join("..", "..", folder)) {
			// These write the history of the prompt, and a page in a folder of its own.
			if slices.Contains([]string{"atomicfile.go", "prompt.go", "daemon.go"}, filepath.Base(file)) {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := makes.Find(text); found != nil {
				t.Errorf("%s: %s...) (atomicfile.Write does it)", file, found)
			}
		}
	}
}
