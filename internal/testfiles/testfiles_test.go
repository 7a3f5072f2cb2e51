package testfiles

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// recorder is a test that notes whether it failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	runtime.Goexit()
}

// fails reports whether f fails the test that it is given.
func fails(t *testing.T, f func(testing.TB)) bool {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.failed
}

func TestGlob(t *testing.T) {
	if got := Glob(t, "*_test.go", "testfiles.go"); !slices.Equal(got, []string{"testfiles_test.go", "testfiles.go"}) {
		t.Error(got)
	}
	if got := Sources(t, "."); !slices.Equal(got, []string{"testfiles.go"}) {
		t.Error(got)
	}
	tests := filepath.Join("..", "..", "cmd", "acceptance", "house") // has only tests
	for name, f := range map[string]func(testing.TB){
		"one pattern of two": func(t testing.TB) { Glob(t, "*.go", "*.none") },
		"a wrong pattern":    func(t testing.TB) { Glob(t, "[") },
		"no folder":          func(t testing.TB) { Sources(t, "none") },
		"only tests":         func(t testing.TB) { Sources(t, tests) },
	} {
		if !fails(t, f) {
			t.Errorf("%s: no error", name)
		}
	}
}
