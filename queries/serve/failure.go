package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/schema/storedir"
)

// failure is an error with the status of its response.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// wrong is the failure of a request that means nothing. Parameters have the names of flags.
func wrong(err error) error {
	return &failure{http.StatusBadRequest, errors.New(flags().ReplaceAllString(err.Error(), "$1"))}
}

// flags are the dashes of names of flags.
var flags = lazyregexp.New(`(^|[ (])--\b`)

// StatusLate is the status of an answer that takes too long. No program repeats a request that is
// answered with 422; browsers do after 408, and many clients and proxies after 504, though the
// next answer would take as long.
const StatusLate = http.StatusUnprocessableEntity

// StatusOf returns the status of a response that says what failed.
func StatusOf(err error) int {
	var f *failure
	var filter *queries.FilterError
	var engine *duckdb.Error
	switch {
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, queries.ErrNone):
		return http.StatusNotFound
	case errors.As(err, &filter), errors.Is(err, path.ErrBadPattern):
		return http.StatusBadRequest
	case queries.FindLostFile(err) != nil:
		return http.StatusInternalServerError
	case queries.IsRefusal(err):
		return http.StatusForbidden
	case errors.Is(err, storedir.ErrNoStore):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return StatusLate
	case errors.As(err, &engine) && engine.Type == duckdb.ErrorTypeOutOfMemory:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}

// fail answers that something failed, and why.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.respond(w, r, err, jsonType, failureText(err))
}

// respond answers with what says that something failed, and why.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, err error, kind string, text []byte) {
	status := StatusOf(err)
	if r.Context().Err() != nil { // nobody reads it
		return
	}
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		s.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", challenge)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", fmt.Sprint(int(guessWindow.Seconds())))
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}

// challenge says how to send the token.
const challenge = `Bearer realm="stackmill"`

// Explain is what clients are told of an error.
func Explain(err error) string {
	if lost := queries.FindLostFile(err); lost != nil {
		err = lost
	}
	first, _, _ := strings.Cut(err.Error(), "\n\nLINE ") // the rest quotes the statement
	return first
}

// failureText is what a response says of an error.
func failureText(err error) []byte {
	text, _ := json.Marshal(struct {
		Error string `json:"error"`
	}{Explain(err)})
	return append(text, '\n')
}

// warningName is the header of what readers of an answer should know.
const warningName = "Stackmill-Warning"

// setWarnings sets the header of what readers of an answer should know, each text once.
func setWarnings(w http.ResponseWriter, lists ...[]string) {
	if text := joinWarnings(lists...); text != "" {
		w.Header().Set(warningName, text)
	}
}

// joinWarnings returns the value of that header, empty if there are no texts.
func joinWarnings(lists ...[]string) string {
	var all []string
	for _, text := range slices.Concat(lists...) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if all == nil {
		return ""
	}
	return warningHeader(all)
}

// longestWarnings bounds the header of warnings: proxies answer 502 instead if the headers are
// longer than some kilobytes (nginx: 4).
const longestWarnings = 2 << 10

// warningHeader returns texts as one header: a list in JSON, in which characters outside ASCII
// are escaped, since readers of headers take each byte for a character. The last text says how
// many have no room.
func warningHeader(texts []string) string {
	header := escaped(texts)
	for n := len(texts) - 1; len(header) > longestWarnings && n >= 0; n-- {
		header = escaped(append(texts[:n:n], fmt.Sprintf("%d more warnings have no room here", len(texts)-n)))
	}
	return header
}

func escaped(texts []string) string {
	var out strings.Builder
	for _, c := range string(result.Marshal(texts)) {
		switch {
		case ' ' <= c && c <= '~':
			out.WriteRune(c)
		case c < 1<<16:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

// tooLarge is the failure of an answer that has too many bytes.
func tooLarge(limit int) error {
	return &failure{http.StatusRequestEntityTooLarge, fmt.Errorf("the answer has more than %d bytes (ask for less, with limit or in SQL)", limit)}
}
