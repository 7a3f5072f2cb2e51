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
	"strings"

	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// endpoint is a path under which data is asked for, with all that a request may say.
type endpoint struct {
	method, path string
	does         string
	parameters   []parameter
	body         []parameter // fields of a JSON object; nil if there is no body
	gives        []string    // media types
	rows         []string    // the schemas that rows in JSON may have; none if the columns vary
	run          func(*work) error
}

// parameter is one of a request's: its name, its type as OpenAPI has it, and its meaning.
type parameter struct {
	name, kind, does string
	several          bool     // may be given again
	required         bool     // must be given
	one              []string // the values that it may have; nil for any
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
)

// formats are the names of formats and their media types.
var formats = map[string]string{"json": jsonType, "ndjson": ndjsonType, "csv": csvType, "arrow": arrowType, "parquet": parquetType}

// longestBody bounds what a request sends: nobody types more SQL.
const longestBody = 1 << 20

// call is a request whose parameters are those of its endpoint.
type call struct {
	*endpoint
	name   string // what the path names, {name}
	values url.Values
	body   []byte
	empty  bool // columns are asked for, not rows; of an export, whether there is one
}

// call reads a request. A parameter that is passed over would change what the answer is
// about.
func (e *endpoint) call(r *http.Request) (*call, error) {
	c := &call{endpoint: e, name: r.PathValue("name")}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, wrong(err)
	}
	c.values = values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(e.parameters, func(p parameter) bool { return p.name == name })
		if i < 0 {
			return nil, wrong(fmt.Errorf("%s has no parameter %q%s", e.path, name, queries.Suggest(name, e.names())))
		}
		p := e.parameters[i]
		if len(values[name]) > 1 && !p.several {
			return nil, wrong(fmt.Errorf("%s is given %d times", name, len(values[name])))
		}
		if p.one != nil && !slices.Contains(p.one, values.Get(name)) {
			return nil, wrong(fmt.Errorf("%s: there is no %q (one of %s)", name, values.Get(name), strings.Join(p.one, ", ")))
		}
	}
	for _, p := range e.parameters {
		if p.required && values.Get(p.name) == "" {
			return nil, wrong(fmt.Errorf("%s is missing: %s", p.name, p.does))
		}
	}
	if r.Method != http.MethodPost {
		return c, nil
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), jsonType) {
		return nil, &failure{http.StatusUnsupportedMediaType, errors.New("the body has another type or none (send Content-Type: " + jsonType + ")")}
	}
	if c.body, err = io.ReadAll(io.LimitReader(r.Body, longestBody+1)); err != nil {
		return nil, wrong(err)
	}
	if len(c.body) > longestBody {
		return nil, errTooLong
	}
	return c, nil
}

// errTooLong is the failure of a request that is too large.
var errTooLong = &failure{http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d bytes", longestBody)}

// names are the names of the parameters.
func (e *endpoint) names() (names []string) {
	for _, p := range e.parameters {
		names = append(names, p.name)
	}
	return names
}

// foreign reports whether a call has SQL of its own, which may take any time and memory.
func (c *call) foreign() bool { return c.body != nil || len(c.values["where"]) > 0 }

// work is a call being answered.
type work struct {
	*call
	ctx      context.Context
	from     sources
	out      *sandbox.Bounded
	kind     string // of what was written
	warnings []string
	state    string // of the store that was opened
}

// answer answers a call by writing to out.
func (c *call) answer(ctx context.Context, from sources, out *sandbox.Bounded) (*reply, error) {
	w := &work{call: c, ctx: ctx, from: from, out: out, kind: jsonType}
	if err := c.run(w); err != nil {
		out.Body().Release()
		if out.Full {
			err = tooLarge(int(out.Most))
		}
		return nil, err
	}
	return &reply{Type: w.kind, Warnings: w.warnings, State: w.state, body: out.Body()}, nil
}
