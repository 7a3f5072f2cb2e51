package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/queries"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// If pipes or devices replace a store's own files, or a commit names an experiment twice, each verb
// ends, and the intact part is answered.
func TestOddStores(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "test.1.er")
	if err := compose(recording); err != nil {
		t.Fatal(err)
	}
	put := map[string]func(path string) error{
		"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	for kind, put := range put {
		store := storetest.New(t, storetest.Two)
		c, err := storedir.ReadCommit(store, "00000000000000aa")
		if err != nil {
			t.Fatal(err)
		}
		c.Batch, c.Files, c.Experiments = "00000000000000ff", nil, append(c.Experiments, c.Experiments[0])
		twice, err := c.Encode()
		if err == nil {
			err = os.WriteFile(filepath.Join(store, "commits", c.Batch+".json"), twice, 0o600)
		}
		for _, name := range []string{"commits/00000000000000ee.json", storedir.JournalFile, queries.CatalogFile, "staging/00000000000000ee.lock", ".catalog-00000000.lock", "tables/samples/00000000000000ee.parquet"} {
			path := filepath.Join(store, name)
			_ = os.Remove(path)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), put(path))
		}
		if err != nil {
			t.Fatal(err)
		}
		temp := t.TempDir()
		for _, verb := range []struct{ args, says string }{
			{"report functions --experiment tuesday/test.1.er", "main"},
			{`query SELECT(1000+count(*))FROM"experiments"`, "1002"},
			{"experiments", "tuesday"},
			{"check", "commits/00000000000000ee.json: is not as it was written"},
			{"check", "twice"},
			{"plan -o " + temp + "/plan " + recording, ""},
			{"label tuesday/test.1.er night=1", ""},
			{"export --as folded -o " + temp + "/x --experiment tuesday/test.1.er", ""},
			{"ingest --cache " + temp + "/c " + recording, "1 ingested"},
			{"compact", ""},
			{"forget tuesday/test.1.er", ""},
		} {
			args := strings.Fields(verb.args)
			p := program(t, append(args[:1:1], append([]string{"--store", store}, args[1:]...)...)...)
			out, err := p.CombinedOutput()
			if p.ProcessState == nil || p.ProcessState.ExitCode() < 0 {
				t.Errorf("%s, %s: it does not end: %v\n%s", kind, verb.args, err, out)
			}
			if !strings.Contains(string(out), verb.says) || strings.Contains(string(out), "see stackmill") {
				t.Errorf("%s, %s: %v, it says %s", kind, verb.args, err, out)
			}
		}
	}
}

// An intact store whose path the SQL engine cannot open is not called damaged.
func TestStoreIsNotUTF8(t *testing.T) {
	store := filepath.Join(t.TempDir(), "a\xff")
	if err := os.CopyFS(store, os.DirFS(storetest.New(t, storetest.Two))); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"check", "experiments", "serve --listen 127.0.0.1:0", "compact", "ingest ."} {
		out, err := program(t, append([]string{"--store", store}, strings.Fields(verb)...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not UTF-8") || strings.Contains(string(out), "wrong") {
			t.Errorf("%s: %v\n%s", verb, err, out)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(store, link); err != nil {
		t.Fatal(err)
	}
	if out, err := program(t, "check", "--store", link).CombinedOutput(); err != nil {
		t.Errorf("by a link: %v\n%s", err, out)
	}
}
