package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackmill/internal/lazyregexp"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/queries/sandbox"
)

// endpoint is a path of the API with its parameters and handler.
type endpoint struct {
	method, path string
	summary      string
	parameters   []parameter
	body         []parameter // fields of the JSON object in a request's body; nil if it has none
	mediaTypes   []string    // media types of the answers
	rows         []string    // names of the JSON schemas that rows may have; none if the columns vary
	uncached     bool        // answers do not depend on the store alone
	handle       func(*job) error
}

// parameter is a parameter of a request: its name, its OpenAPI type and its description.
type parameter struct {
	name, kind, doc string
	repeatable      bool     // may be repeated
	required        bool     // must be given
	enum            []string // the allowed values; nil for any
}

// The media types of answers and requests.
const (
	jsonType    = "application/json"
	pprofType   = "application/vnd.google.protobuf+gzip"
	ndjsonType  = "application/x-ndjson"
	csvType     = "text/csv; charset=utf-8"
	arrowType   = "application/vnd.apache.arrow.stream"
	parquetType = "application/vnd.apache.parquet"
	textType    = "text/plain; charset=utf-8"
	htmlType    = "text/html; charset=utf-8"
	svgType     = "image/svg+xml"
)

// formats maps the formats of rows to their media types.
var formats = map[string]string{"json": jsonType, "ndjson": ndjsonType, "csv": csvType, "arrow": arrowType, "parquet": parquetType}

// maxBody is the maximum of bytes in a request's body, which is SQL.
const maxBody = 1 << 20

// call is a request with valid parameters.
type call struct {
	*endpoint
	name        string // value of {name} in the path
	values      url.Values
	body        []byte
	columnsOnly bool // for SQL: answer with the columns only; for an export: only check that it is possible
}

// call parses a request. It refuses unknown parameters: ignoring one could silently change the answer.
func (e *endpoint) call(r *http.Request) (*call, error) {
	c := &call{endpoint: e, name: r.PathValue("name")}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest(err)
	}
	c.values = values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(e.parameters, func(p parameter) bool { return p.name == name })
		if i < 0 {
			return nil, badRequest(fmt.Errorf("%s has no parameter %q%s", e.path, name, queries.Suggest(name, e.names())))
		}
		p := e.parameters[i]
		for _, v := range values[name] {
			if !utf8.ValidString(v) {
				return nil, badRequest(fmt.Errorf("%s: %q is not UTF-8", name, v))
			}
		}
		if len(values[name]) > 1 && !p.repeatable {
			return nil, badRequest(fmt.Errorf("%s is given %d times, but may be given only once", name, len(values[name])))
		}
		if p.enum != nil && !slices.Contains(p.enum, values.Get(name)) {
			return nil, badRequest(fmt.Errorf("%s: unknown value %q (choose one of %s)", name, values.Get(name), strings.Join(p.enum, ", ")))
		}
	}
	for _, p := range e.parameters {
		if p.required && values.Get(p.name) == "" {
			return nil, badRequest(fmt.Errorf("%s is missing: %s", p.name, p.doc))
		}
	}
	if r.Method != http.MethodPost {
		return c, nil
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), jsonType) {
		return nil, &failure{http.StatusUnsupportedMediaType, errors.New("the body must be JSON (send Content-Type: " + jsonType + ")")}
	}
	if c.body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
		return nil, badRequest(err)
	}
	if len(c.body) > maxBody {
		return nil, errTooLong
	}
	return c, nil
}

var errTooLong = &failure{http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d bytes", maxBody)}

// names returns the names of the parameters.
func (e *endpoint) names() (names []string) {
	for _, p := range e.parameters {
		names = append(names, p.name)
	}
	return names
}

// hasSQL reports whether a call contains SQL, which may take any time and memory.
func (c *call) hasSQL() bool { return c.body != nil || len(c.values["where"]) > 0 }

// job is a call while its handler answers it, with the properties of the answer.
type job struct {
	*call
	ctx      context.Context
	from     sessionSource
	out      *sandbox.LimitedBuffer
	kind     string // media type of the answer
	warnings []string
	state    string // the state of the store's commits that the answer is made from
}

func (w *job) writeJSON(value any) error {
	text, err := terminal.EncodeJSON(value)
	if err != nil {
		return err
	}
	_, err = w.out.Write(text)
	return err
}

// writeExact is writeJSON for answers of whole numbers: those beyond 2^53, which some readers round, become strings.
func (w *job) writeExact(value any) error {
	text, err := terminal.EncodeJSON(value)
	if err != nil {
		return err
	}
	_, err = w.out.Write(quoteLarge(text))
	return err
}

// textOrNumber matches the texts and the numbers in JSON.
var textOrNumber = lazyregexp.New(`"(?:[^"\\]|\\.)*"|-?[0-9][-+0-9.eE]*`)

// quoteLarge makes the whole numbers in JSON that are beyond 2^53 strings.
func quoteLarge(text []byte) []byte {
	return textOrNumber().ReplaceAllFunc(text, func(token []byte) []byte {
		n, err := strconv.ParseInt(string(token), 10, 64)
		if err != nil { // a text, or a number with a fraction or an exponent
			return token
		}
		if _, is := result.Exact(n, "").(string); !is {
			return token
		}
		return slices.Concat([]byte{'"'}, token, []byte{'"'})
	})
}

// answer runs the handler of a call, which writes to out, and returns the answer.
func (c *call) answer(ctx context.Context, from sessionSource, out *sandbox.LimitedBuffer) (*reply, error) {
	w := &job{call: c, ctx: ctx, from: from, out: out, kind: jsonType}
	if err := c.handle(w); err != nil {
		out.Body().Release()
		if out.Full {
			err = tooLarge(int(out.Most))
		}
		return nil, err
	}
	return &reply{Type: w.kind, Warnings: w.warnings, State: w.state, body: out.Body()}, nil
}
