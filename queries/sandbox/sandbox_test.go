package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// answering is the variable that makes the test's program answer a request, if it is set.
const answering = "STACKMILL_TEST_ANSWER"

func TestMain(m *testing.M) {
	if os.Getenv(answering) == "" {
		os.Exit(m.Run())
	}
	if err := Answer(os.Stdin, os.Stdout, handle); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func handle(request json.RawMessage, body *os.File) (any, error) {
	var does string
	if err := json.Unmarshal(request, &does); err != nil {
		return nil, err
	}
	switch does {
	case "fail":
		return nil, errors.New("it fails")
	case "hang":
		select {}
	case "grow":
		var all [][]byte
		for range 1 << 10 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
		return len(all), nil
	case "talk":
		_, err := body.Write(make([]byte, 2<<20))
		return nil, err
	}
	_, err := body.WriteString(does)
	return "said", err
}

// A process gives an answer or, if it ends without one, an error; no files are left.
func TestRun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv(answering, "1")
	b := &Box{Program: []string{os.Args[0]}, Memory: 0, Largest: 1 << 20}
	r, err := b.Run(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.Body.Bytes(); err != nil || string(text) != "hello" || string(r.Head) != `"said"` {
		t.Errorf("%s %s %v", r.Head, text, err)
	}
	r.Body.Release()
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for does, want := range map[string]string{"fail": "it fails", "hang": context.DeadlineExceeded.Error(), "grow": ErrMemory.Error(), "talk": ErrLarge.Error()} {
		ctx := t.Context()
		if does == "hang" {
			ctx = late
		}
		if _, err := b.Run(ctx, does); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", does, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// An answer is limited in size, and can be read from memory or file until it is released.
func TestBody(t *testing.T) {
	for _, size := range []int{0, 1, InMemory, InMemory + 1, 3 * InMemory} {
		text := bytes.Repeat([]byte("x"), size)
		b := NewBounded(int64(size), nil)
		for from := 0; from < size; from += 1000 {
			if _, err := b.Write(text[from:min(from+1000, size)]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Write([]byte("y")); err != ErrLarge || !b.Full {
			t.Errorf("%d bytes: one more: %v", size, err)
		}
		freed := false
		body := b.Body()
		body.OnRelease(func() { freed = true })
		body.Share(1)
		body.Release()
		if got, err := body.Bytes(); err != nil || !bytes.Equal(got, text) || freed || body.Size != int64(size) {
			t.Errorf("%d bytes: %d, %v, freed: %t", size, len(got), err, freed)
		}
		body.Release()
		if _, err := body.Bytes(); !freed || (err == nil) != (size <= InMemory) {
			t.Errorf("%d bytes: freed: %t, %v", size, freed, err)
		}
	}
}
