package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/internal/lazyregexp"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// failure is an error with the HTTP status of its response.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return terminal.Wording(f.err) }

func (f *failure) Unwrap() error { return f.err }

// badRequest returns the failure of an invalid request. Errors of code shared with the command line name flags: it
// removes their dashes, because parameters have the same names.
func badRequest(err error) error {
	return &failure{http.StatusBadRequest, errors.New(flags().ReplaceAllString(terminal.Wording(err), "$1"))}
}

// flags matches the dashes of flags in an error's text.
var flags = lazyregexp.New(`(^|[ (])--\b`)

// StatusLate is the status of a request that took too long. No client repeats it after 422. Browsers do after 408,
// and many clients and proxies after 504, although the next attempt would take as long.
const StatusLate = http.StatusUnprocessableEntity

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
	var f *failure
	var filter *queries.FilterError
	var engine *duckdb.Error
	switch {
	case errors.As(err, &f):
		return f.status
	case errors.As(err, &filter), errors.Is(err, path.ErrBadPattern):
		return http.StatusBadRequest
	case errors.Is(err, queries.ErrNone):
		return http.StatusNotFound
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

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.respond(w, r, err, jsonType, failureText(err))
}

// respond answers a request that failed with err; text is the body, of media type kind.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, err error, kind string, text []byte) {
	status := StatusOf(err)
	if r.Context().Err() != nil { // the client is gone
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

const challenge = `Bearer realm="stackmill"`

// Explain returns the text of an error for clients.
func Explain(err error) string {
	if lost := queries.FindLostFile(err); lost != nil {
		err = lost
	}
	if errors.As(err, new(*queries.FilterError)) {
		err = badRequest(err)
	}
	first, _, _ := strings.Cut(err.Error(), "\n\nLINE ") // after it, the engine quotes the statement
	return first
}

// failureText returns the JSON body of an error response. If the engine names the line of the SQL that is wrong, the
// body has its number.
func failureText(err error) []byte {
	body := struct {
		Error string `json:"error"`
		Line  int    `json:"line,omitempty"`
	}{Error: Explain(err)}
	if m := wrongLine().FindStringSubmatch(err.Error()); m != nil {
		body.Line, _ = strconv.Atoi(m[1])
	}
	text, _ := json.Marshal(body)
	return append(text, '\n')
}

// wrongLine matches the line that the engine quotes after an error.
var wrongLine = lazyregexp.New(`\n\nLINE ([0-9]{1,6}): `)

// warningName is the header that has warnings about an answer.
const warningName = "Stackmill-Warning"

// setWarnings sets the header of warnings; warnings in several lists appear once.
func setWarnings(w http.ResponseWriter, lists ...[]string) {
	if text := joinWarnings(lists...); text != "" {
		w.Header().Set(warningName, text)
	}
}

// joinWarnings returns the value of the header of warnings, or "" if there are none.
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

// maxWarnings limits the bytes of that header: proxies answer 502 if all headers have more than a few kilobytes
// (nginx: 4).
const maxWarnings = 2 << 10

// warningHeader returns texts as a JSON list in ASCII: clients may decode headers as Latin-1. If not all texts fit,
// the last one says how many are missing.
func warningHeader(texts []string) string {
	header := asciiJSON(texts)
	for n := len(texts) - 1; len(header) > maxWarnings && n >= 0; n-- {
		header = asciiJSON(append(texts[:n:n], fmt.Sprintf("%d more warnings do not fit here", len(texts)-n)))
	}
	return header
}

func asciiJSON(texts []string) string {
	var out strings.Builder
	for _, c := range string(terminal.MarshalJSON(texts)) {
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

func tooLarge(limit int) error {
	return &failure{http.StatusRequestEntityTooLarge, fmt.Errorf("the answer has more than %d bytes (ask for less, with limit or in SQL)", limit)}
}
