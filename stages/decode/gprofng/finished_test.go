package gprofng

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/decode/gprofng/gprofngtest"
)

// An experiment is finished when the logs of all its processes say so.
func TestFinished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "test.1.er")
	e := gprofngtest.New(dir)
	e.Descendant("_f1", 1000)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	d := New()
	if !d.Finished(dir) {
		t.Error("a whole one is not")
	}
	for _, name := range []string{"log.xml", "_f1.er/log.xml"} {
		log := filepath.Join(dir, name)
		whole, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string][]byte{
			"cut":      whole[:bytes.Index(whole, []byte(`kind="exit"`))],
			"empty":    nil,
			"garbage":  []byte("<<<"),
			"exec'd":   bytes.Replace(whole, []byte(`kind="exit"`), []byte(`kind="exec_error"`), 1),
			"of zeros": make([]byte, 4096),
		} {
			if err := os.WriteFile(log, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if d.Finished(dir) {
				t.Errorf("with a %s %s it is", what, name)
			}
		}
		if err := os.WriteFile(log, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if d.Finished(filepath.Join(dir, "nowhere.er")) {
		t.Error("what is not there is")
	}
}
