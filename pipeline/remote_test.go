package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stackmill/internal/objstore"
)

// Keys that are no valid file names are refused before anything is read: they would lead out of the
// recording, or two keys to the same file.
func TestHostileKeys(t *testing.T) {
	name := objstore.Address{Bucket: "b", Key: "night/x.er"}
	for _, key := range []string{"/../../y", "//log.xml", "/./log.xml", "/archives/../log.xml", "/..", "/a//b"} {
		dir := t.TempDir()
		e := &remoteRecording{name, []objstore.Object{{Address: objstore.Address{Bucket: "b", Key: name.Key + key}}}}
		if err := e.download(t.Context(), nil, filepath.Join(dir, "x.er")); !errors.Is(err, ErrNoRecording) {
			t.Errorf("%q: %v", key, err)
		}
		if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
			t.Errorf("%q: %v, %v", key, made, err)
		}
	}
}

// The keys tell which recording an object belongs to.
func TestRecordingOf(t *testing.T) {
	for _, c := range []struct {
		below, key, want string
		deep             bool
	}{
		{"", "a.er/log.xml", "a.er", false},
		{"", "night/a.er/archives/libc.so", "night/a.er", true},
		{"night", "night/a.er/archives/libc.so", "night/a.er", false},
		{"night/a.er", "night/a.er/M_r0.er/log.xml", "night/a.er", false},
		{"night", "night/a.er/M_r0.er/log.xml", "night/a.er", false},
		{"night", "night/perf.data", "night/perf.data", false},
		{"", "night/perf.data", "night/perf.data", true},
		{"night", "night/odd.er", "night/odd.er", false},
	} {
		got, deep := recordingName(objstore.Address{Bucket: "b", Key: c.below}, objstore.Address{Bucket: "b", Key: c.key})
		if got.Key != c.want || deep != c.deep {
			t.Errorf("%s below %q: %s, %v", c.key, c.below, got.Key, deep)
		}
	}
}
