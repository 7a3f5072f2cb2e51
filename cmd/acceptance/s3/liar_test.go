package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// These select the requests that get false answers.
func lists(r *http.Request) bool { return r.URL.Query().Has("list-type") }
func commitLists(r *http.Request) bool {
	return lists(r) && strings.Contains(r.URL.Query().Get("prefix"), "commits")
}
func commits(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/commits/")
}
func tables(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/tables/")
}
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// says makes a lie from a function that answers some requests.
func says(which func(*http.Request) bool, answer func(w http.ResponseWriter, r *http.Request, content []byte)) lie {
	return func(w http.ResponseWriter, r *http.Request, _ *http.Response, content []byte) bool {
		if which(r) {
			answer(w, r, content)
		}
		return which(r)
	}
}

// plain answers with other content and its correct length.
func plain(w http.ResponseWriter, status int, content []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may have gone
}

// edited returns a lie that changes the content.
func edited(which func(*http.Request) bool, edit func(content []byte) []byte) lie {
	return says(which, func(w http.ResponseWriter, _ *http.Request, content []byte) {
		status := http.StatusOK
		if w.Header().Get("Content-Range") != "" {
			status = http.StatusPartialContent
		}
		plain(w, status, edit(content))
	})
}

// endless answers with a text, then repeats another one forever.
func endless(begin, more string) func(w http.ResponseWriter, r *http.Request, content []byte) {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) {
		w.Header().Del("Content-Length")
		_, err := io.WriteString(w, begin)
		for more := []byte(strings.Repeat(more, 1000)); err == nil && r.Context().Err() == nil; {
			_, err = w.Write(more)
		}
	}
}

// drip answers with one byte per second.
func drip(w http.ResponseWriter, r *http.Request, content []byte) {
	for i := range content {
		_, _ = w.Write(content[i : i+1])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// page returns a page of an endless list. Its keys begin with a number.
func page(token string, first, keys int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>store</Name><Prefix>night=7/profiles/commits/</Prefix><MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated>`)
	fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken><KeyCount>%d</KeyCount>", token, keys)
	for n := first; n < first+keys; n++ {
		fmt.Fprintf(&b, `<Contents><Key>night=7/profiles/commits/b%016x.json</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"%032x"</ETag><Size>10</Size><StorageClass>STANDARD</StorageClass></Contents>`, n, n)
	}
	b.WriteString("</ListBucketResult>")
	return b.Bytes()
}

// pagesOf returns a lie that answers lists with numbered pages.
func pagesOf(next func(n int) []byte) lie {
	var n atomic.Int64
	return says(lists, func(w http.ResponseWriter, _ *http.Request, _ []byte) { plain(w, http.StatusOK, next(int(n.Add(1)))) })
}

// strange are keys that no file of a store has, before the real ones.
const strange = `<Contents><Key>night=7/profiles/commits/../../../escaped.json</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>10</Size></Contents>` +
	`<Contents><Key>night=7/profiles/commits//etc/passwd.json</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>10</Size></Contents>` +
	`<Contents><Key>night=7/profiles/commits/%1B%5B31m.json</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>10</Size></Contents>` +
	`<Contents><Key>night=7/profiles/commits/0%00.json</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>10</Size></Contents>`

func inserted(more string) func(content []byte) []byte {
	return func(content []byte) []byte {
		return bytes.Replace(content, []byte("<Contents>"), []byte(more+"<Contents>"), 1)
	}
}

func dated(content []byte) []byte {
	return regexp.MustCompile(`<LastModified>[^<]*`).ReplaceAll(content, []byte("<LastModified>1970-01-01T00:00:00.000Z"))
}

func flipped(content []byte) []byte {
	content = bytes.Clone(content)
	if len(content) > 0 {
		content[len(content)/2] ^= 1
	}
	return content
}

const portal = "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>Welcome to the hotel</body></html>\n"

// If a server or proxy gives false answers, to the first request or to later ones, the result is
// the right answer or an error message. No verb waits for ever, uses up the machine's memory, or
// writes to the bucket.
func TestLiar(t *testing.T) {
	s := serve(t)
	const experiments = 3
	dir := t.TempDir()
	writer := s.machine()
	for n := range experiments {
		record(t, filepath.Join(dir, fmt.Sprint(n)), n)
		writer.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, fmt.Sprint(n)))
	}
	var elsewhere atomic.Int64 // number of requests to another host
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var flips atomic.Int64
	right := func(name string) bool { return strings.HasPrefix(name, "right: ") }
	writer.does("query", "--store", store, sums)
	before := s.sums("store")
	t.Run("all", func(t *testing.T) {
		for _, c := range []struct {
			name string // begins with "right: " if the right answer can be found
			lie  lie
		}{
			{"list: the same page for ever", pagesOf(func(int) []byte { return page("same", 0, 1) })},
			{"list: the same objects for ever", pagesOf(func(n int) []byte { return page(fmt.Sprint(n), 0, 1000) })},
			{"list: empty pages for ever", pagesOf(func(n int) []byte { return page(fmt.Sprint(n), 0, 0) })},
			{"list: new objects for ever", pagesOf(func(n int) []byte { return page(fmt.Sprint(n), 1000*n, 1000) })},
			{"list: of another prefix", edited(lists, inserted("<Contents><Key>other/x.json</Key><Size>1</Size></Contents>"))},
			{"list: a key of a megabyte", edited(lists, inserted("<Contents><Key>night=7/profiles/commits/"+strings.Repeat("x", 1<<20)+".json</Key><Size>1</Size></Contents>"))},
			{"right: list: strange keys", edited(lists, func(content []byte) []byte {
				return bytes.Replace(inserted(strange)(content), []byte("</ListBucketResult>"), []byte("<EncodingType>url</EncodingType></ListBucketResult>"), 1)
			})},
			{"list: a byte a second", says(lists, drip)},
			{"list: no end", says(lists, endless(`<?xml version="1.0"?><ListBucketResult>`, " "))},
			{"list: cut", says(lists, func(w http.ResponseWriter, _ *http.Request, content []byte) {
				_, _ = w.Write(content[:len(content)/2])
				panic(http.ErrAbortHandler)
			})},
			{"list: another page of XML", edited(lists, func([]byte) []byte {
				return []byte(`<?xml version="1.0"?><html><body>Log in</body></html>`)
			})},
			{"list: an error with status 200", edited(lists, func([]byte) []byte { return []byte(`<?xml version="1.0"?><Error><Code>Other</Code></Error>`) })},
			{"list: nothing", edited(lists, func([]byte) []byte { return nil })},
			{"right: list: other sizes", edited(commitLists, func(content []byte) []byte {
				return regexp.MustCompile(`<Size>\d+`).ReplaceAll(content, []byte("<Size>0"))
			})},
			{"right: list: clock of 1970", edited(lists, dated)},
			{"commits: other ETags", says(commits, func(w http.ResponseWriter, _ *http.Request, content []byte) {
				w.Header().Set("ETag", `"0"`)
				plain(w, http.StatusOK, content)
			})},
			{"commits: a byte a second", says(commits, drip)},
			{"commits: no end", says(commits, endless("{", " "))},
			{"commits: a terabyte, they say", says(commits, func(w http.ResponseWriter, _ *http.Request, content []byte) {
				w.Header().Set("Content-Length", strconv.Itoa(1<<40))
				_, _ = w.Write(content)
			})},
			{"commits: shorter than they say", says(commits, func(w http.ResponseWriter, _ *http.Request, content []byte) { _, _ = w.Write(content[:len(content)-1]) })},
			{"commits: cut, with the right length of that", edited(commits, func(content []byte) []byte { return content[:len(content)/2] })},
			{"commits: each answer has another flipped bit", edited(commits, func(content []byte) []byte {
				content = bytes.Clone(content)
				content[int(flips.Add(1))%len(content)] ^= 1
				return content
			})},
			{"commits: a page of HTML", says(commits, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Del("ETag")
				plain(w, http.StatusOK, []byte(portal))
			})},
			{"commits: not there", says(commits, func(w http.ResponseWriter, _ *http.Request, _ []byte) { plain(w, http.StatusNotFound, nil) })},
			{"commits: one is not there", func() lie {
				first := &atomic.Pointer[string]{}
				return says(func(r *http.Request) bool {
					return commits(r) && (first.CompareAndSwap(nil, &r.URL.Path) || *first.Load() == r.URL.Path)
				}, func(w http.ResponseWriter, _ *http.Request, _ []byte) { plain(w, http.StatusNotFound, nil) })
			}()},
			{"tables: a byte a second", says(tables, drip)},
			{"tables: no end", says(tables, endless("PAR1", "x"))},
			{"tables: all of it and more", edited(tables, func(content []byte) []byte { return append(bytes.Clone(content), content...) })},
			{"tables: each answer has another flipped bit", edited(tables, func(content []byte) []byte {
				content = bytes.Clone(content)
				content[int(flips.Add(1))%len(content)] ^= 1
				return content
			})},
			{"all: a page of HTML", says(func(*http.Request) bool { return true }, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				clear(w.Header())
				plain(w, http.StatusOK, []byte(portal))
			})},
			{"all: another host", says(func(*http.Request) bool { return true }, func(w http.ResponseWriter, r *http.Request, _ []byte) {
				w.Header().Set("Location", other.URL+r.URL.Path)
				plain(w, http.StatusTemporaryRedirect, nil)
			})},
			{"all: busy for ever", says(reads, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				plain(w, http.StatusServiceUnavailable, []byte("<Error><Code>SlowDown</Code></Error>"))
			})},
			{"all: an error without an end", says(func(*http.Request) bool { return true }, func(w http.ResponseWriter, r *http.Request, _ []byte) {
				w.WriteHeader(http.StatusInternalServerError)
				endless("<Error>", " ")(w, r, nil)
			})},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				liar := &server{T: t, binary: s.binary, root: s.root, proxy: newProxy(t, s.server)}
				liar.lie = c.lie
				asks := func(m *machine) {
					t.Helper()
					code, out := m.within(t, "query", "--store", store, "--format", "csv", sums)
					switch answer := strings.ReplaceAll(out, "\r", ""); {
					case code == 0 && !strings.HasSuffix(answer, truth(0, experiments)):
						t.Errorf("a wrong answer\n%s", out)
					case code != 0 && (right(c.name) || !strings.Contains(out, "s3://")):
						t.Errorf("exit status %d\n%s", code, out)
					}
				}
				impatient := []string{"STACKMILL_S3_RETRY=1s", "STACKMILL_S3_TIMEOUT=1s"}
				m := liar.machine(impatient...)
				asks(m)
				if !long && (strings.HasPrefix(c.name, "list: ") || strings.HasPrefix(c.name, "all: ")) {
					return // every request gets the first answer
				}
				// The same with a copy of another machine's cache.
				mirror := filepath.Dir(m.mirrored("known")[0])
				if err := errors.Join(os.RemoveAll(mirror), os.CopyFS(mirror, os.DirFS(filepath.Dir(writer.mirrored("known")[0])))); err != nil {
					t.Fatal(err)
				}
				if _, out := m.within(t, "check", "--repair", "--store", store); strings.Contains(out, "ingested again") {
					t.Errorf("repaired: %s", out)
				}
				if long {
					asks(m)
				}
			})
		}
	})
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests went to another host", n)
	}
	if after := s.sums("store"); after != before {
		t.Error("the bucket was written to")
	}
	s.has(store, 0, experiments)
}

// within runs a verb, which must end within generous limits of time and memory.
func (m *machine) within(t *testing.T, words ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := m.command(words...)
	command := exec.CommandContext(ctx, c.Path, words...)
	command.Env = c.Env
	text, err := command.CombinedOutput()
	if out = string(text); ctx.Err() != nil || err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("%q does not end: %v\n%s", words, err, out)
	}
	if used := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > 700<<10 {
		t.Errorf("%q takes %d MB", words, used>>10)
	}
	if strings.Contains(out, "goroutine ") || strings.Contains(out, "panic") {
		t.Errorf("%q: %s", words, out)
	}
	return command.ProcessState.ExitCode(), out
}

// sums returns a hash of all objects in a bucket.
func (s *server) sums(bucket string) string {
	h := sha256.New()
	for _, file := range s.stored(bucket) {
		content, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		fmt.Fprintln(h, file, len(content))
		h.Write(content)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
