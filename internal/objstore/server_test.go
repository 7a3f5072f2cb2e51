package objstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/objstore/objstoretest"
)

// served makes a client of a real server, and returns it with the address of a bucket.
func served(t *testing.T) (*Client, Address) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+objstoretest.Serve(t, t.TempDir()))
	t.Setenv("AWS_ACCESS_KEY_ID", objstoretest.User)
	t.Setenv("AWS_SECRET_ACCESS_KEY", objstoretest.Secret)
	t.Setenv(limitVariable, "2s")
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	return c, Address{Bucket: objstoretest.Bucket}
}

// put writes objects, each with its key as its content.
func put(t *testing.T, c *Client, at Address, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := c.Put(t.Context(), at.Join(key), []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
}

// A list has the objects below a prefix in order of keys, but no others whose keys start alike.
func TestServedList(t *testing.T) {
	c, at := served(t)
	put(t, c, at, "a/2", "a/1", "a/b/3", "ab/4", "0")
	list := func(below Address, most int) (keys []string, err error) {
		err = c.List(t.Context(), below, most, func(o Object) error {
			if o.Size != int64(len(o.Key)) || o.ETag == "" || o.Modified.IsZero() {
				t.Errorf("%+v", o)
			}
			keys = append(keys, o.Key)
			return nil
		})
		return keys, err
	}
	for below, want := range map[string][]string{"": {"0", "a/1", "a/2", "a/b/3", "ab/4"}, "a": {"a/1", "a/2", "a/b/3"}, "none": nil} {
		if keys, err := list(at.Join(below), 10); err != nil || !cmp.Equal(want, keys) {
			t.Errorf("below %q: %q, %v", below, keys, err)
		}
	}
	if _, err := list(at, 2); !IsPermanent(err) {
		t.Errorf("more objects than allowed: %v", err)
	}
	if err := c.Remove(t.Context(), at.Bucket, []string{"a/1", "none", "ab/4"}); err != nil {
		t.Error(err)
	}
	if keys, err := list(at, 10); err != nil || !cmp.Equal([]string{"0", "a/2", "a/b/3"}, keys) {
		t.Errorf("after the removal: %q, %v", keys, err)
	}
}

// Content is read as it was listed, or not at all.
func TestServedRead(t *testing.T) {
	c, at := served(t)
	put(t, c, at, "key")
	ctx, at := t.Context(), at.Join("key")
	o, err := c.Stat(ctx, at)
	if err != nil || o.Size != 3 {
		t.Fatalf("%+v, %v", o, err)
	}
	if b, err := c.Content(ctx, o); err != nil || string(b) != "key" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := c.ReadPrefix(ctx, o, 2); err != nil || string(b) != "ke" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := c.Read(ctx, at, 2); !IsPermanent(err) {
		t.Errorf("longer than allowed: %q, %v", b, err)
	}
	if err := c.Put(ctx, at, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, err := c.Content(ctx, o); !errors.Is(err, ErrChanged) {
		t.Errorf("of a replaced object: %q, %v", b, err)
	}
	if b, err := c.Read(ctx, at, 3); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := c.Stat(ctx, at.Join("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// An object is created once; creating it again with the same content is no error.
func TestServedCreate(t *testing.T) {
	c, at := served(t)
	ctx, at := t.Context(), at.Join("commit")
	first, err := c.Create(ctx, at, []byte("one"))
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	if again, err := c.Create(ctx, at, []byte("one")); err != nil || again != first {
		t.Errorf("%q, %q, %v", first, again, err)
	}
	for _, other := range []string{"two", "longer"} {
		if _, err := c.Create(ctx, at, []byte(other)); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if b, err := c.Read(ctx, at, 10); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
}

// A file of several parts is the same after uploading and downloading.
func TestServedParts(t *testing.T) {
	c, at := served(t)
	ctx, at := t.Context(), at.Join("large")
	content := slices.Repeat([]byte("0123456789abcdef\n"), (partSize+partSize/2)/17)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	etag, err := c.Upload(ctx, at, path)
	if err != nil {
		t.Fatal(err)
	}
	download := func(o Object) (Object, []byte, error) {
		to, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		got, err := c.Download(ctx, o, to)
		b, rerr := os.ReadFile(path)
		return got, b, errors.Join(err, rerr)
	}
	got, b, err := download(Object{Address: at, Size: int64(len(content))})
	if err != nil || got.ETag != etag || got.Modified.IsZero() || !bytes.Equal(b, content) {
		t.Errorf("%+v, %d bytes, %v", got, len(b), err)
	}
	if _, _, err := download(Object{Address: at, Size: int64(len(content)), ETag: "other"}); !errors.Is(err, ErrChanged) {
		t.Errorf("of another version: %v", err)
	}
	if _, _, err := download(Object{Address: at, Size: 4 * partSize}); !errors.Is(err, ErrShort) && !errors.Is(err, ErrTruncated) {
		t.Errorf("of more than there is: %v", err)
	}
}
