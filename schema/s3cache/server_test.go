package s3cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/objstore/objstoretest"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// stored commits a batch of one experiment, whose only file has a content, through a cache.
func stored(t *testing.T, m *Cache, id, content string) storedir.Commit {
	t.Helper()
	attempt, err := storedir.NewAttempt(m.Dir, id)
	if err != nil {
		t.Fatal(err)
	}
	defer attempt.Remove()
	f := storedir.File{Table: "samples", Path: storedir.FilePath("samples", filepath.Base(attempt.Dir)), Bytes: int64(len(content)), Checksum: storedir.Checksum(xxhash.Sum64String(content))}
	if err := errors.Join(os.MkdirAll(filepath.Dir(m.local(f.Path)), 0o700), os.WriteFile(m.local(f.Path), []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := storedir.Commit{Batch: id, StoreVersion: schema.StoreVersion, Ingested: time.Now().UTC(), Files: []storedir.File{f},
		Experiments: []storedir.Entry{{ExperimentID: id, Generation: 1, Status: "complete"}}}
	if _, err := storedir.WriteCommit(m.Dir, attempt, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// Two machines share a store: what one commits, the other sees, fetches, and gets again if its copy
// is damaged; what does not fit is evicted; leftovers are collected.
func TestSharedStore(t *testing.T) {
	buckets := t.TempDir()
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+objstoretest.Serve(t, buckets))
	t.Setenv("AWS_ACCESS_KEY_ID", objstoretest.User)
	t.Setenv("AWS_SECRET_ACCESS_KEY", objstoretest.Secret)
	t.Setenv("STACKMILL_S3_RETRY", "2s")
	t.Setenv(OrphansVariable, "1s")
	machine := func(size int64) *Cache {
		m, err := Open(t.Context(), "s3://"+objstoretest.Bucket+"/p", Options{Dir: t.TempDir(), Size: size})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := machine(1<<20), machine(15)
	one, two := stored(t, a, "0000000000000001", "ten bytes."), stored(t, a, "0000000000000002", "10 others.")
	has := func(m *Cache, c *storedir.Commit) bool {
		content, err := os.ReadFile(m.local(c.Files[0].Path))
		return err == nil && storedir.Checksum(xxhash.Sum64(content)) == c.Files[0].Checksum
	}
	contents, err := storedir.ReadContents(b.Dir)
	if err != nil || len(contents.Batches) != 2 || has(b, &one) {
		t.Fatalf("%+v, %v", contents, err)
	}
	if err := b.Fetch(one.Files); err != nil || !has(b, &one) {
		t.Fatalf("it was not fetched: %v", err)
	}
	if err := errors.Join(os.WriteFile(b.local(one.Files[0].Path), []byte("damaged .."), 0o600), b.Fetch(one.Files)); err != nil || !has(b, &one) {
		t.Errorf("the damaged copy was not replaced: %v", err)
	}
	if err := b.Fetch(two.Files); err == nil || has(b, &two) {
		t.Error("20 bytes that are in use fit into 15")
	}
	c := machine(15)
	if err := errors.Join(c.Pull(), c.Fetch(two.Files), c.pins.forget(func(string) bool { return true }), c.Fetch(one.Files)); err != nil || !has(c, &one) || has(c, &two) {
		t.Errorf("the file that nobody uses is still there: %v", err)
	}
	object := filepath.Join(buckets, objstoretest.Bucket, "p", filepath.FromSlash(one.Files[0].Path))
	if err := os.WriteFile(object, bytes.Repeat([]byte("x"), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := machine(15).Fetch(one.Files); !errors.Is(err, storedir.ErrDamaged) {
		t.Errorf("a damaged object: %v", err)
	}
	again := one
	again.Program = "another"
	content, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again.Files = nil
	if err := b.Commit(&again, content); !errors.Is(err, storedir.ErrExists) {
		t.Errorf("the same batch again: %v", err)
	}
	orphan := filepath.Join(filepath.Dir(object), "0000000000000003.parquet")
	if err := errors.Join(os.WriteFile(orphan, nil, 0o600), os.Chtimes(orphan, time.Unix(1e9, 0), time.Unix(1e9, 0))); err != nil {
		t.Fatal(err)
	}
	if removed, err := a.CollectGarbage(); err != nil || removed != 1 {
		t.Errorf("%d files were collected: %v", removed, err)
	}
	if err := a.Remove(&storedir.CommitFile{Commit: two, Batch: two.Batch}); err != nil {
		t.Error(err)
	}
	if contents, err = storedir.ReadContents(b.Dir); err != nil || len(contents.Batches) != 1 || contents.Batches[0].Batch != one.Batch {
		t.Errorf("after the removal: %+v, %v", contents, err)
	}
}
