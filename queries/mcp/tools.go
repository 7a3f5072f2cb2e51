//go:build cgo

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"stackmill/internal/crash"
	"stackmill/internal/lazyregexp"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/console"
	"stackmill/queries/report"
	"stackmill/queries/sandbox"
)

// guidance introduces the store to an agent; docs/agents.md has more.
const guidance = `A store of profiler recordings as tables. Begin with experiments, then report functions of one of them. ` +
	`Values are in base units (ns, bytes, count). Tables repeat each value for each mode (user, expert, machine) and mix metrics: in SQL, always filter on both, e.g. ` +
	`SELECT function, exclusive FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu'. Exclusive values of functions sum to the total, inclusive ones overlap. ` +
	`rows_total says how many rows there are beyond those shown; shown_percent how much of the total they hold; unattributed_percent how much has no name, and why. ` +
	`DESCRIBE a view for its columns; SELECT view_name, comment FROM duckdb_views() lists the views.`

// tool is the description of a tool that agents get.
type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      map[string]any `json:"inputSchema"`
	Hints       map[string]any `json:"annotations"`
}

// parameter describes an argument of a tool. The kinds "strings" and "integers" are lists.
type parameter struct{ name, kind, about string }

const limitHelp = "at most this many rows (default 50); fewer are shown if they would take too many bytes"

var tools = []tool{
	newTool("experiments", "Lists the recordings of the store: host, program, start, samples, problems, labels, and their metrics.", nil,
		parameter{"select", "string", "only these: a name, an id, a pattern like night-*/*.er, or KEY=VALUE of a label or column"},
		parameter{"limit", "integer", limitHelp}),
	newTool("report", "A standard report of one recording, or a sum over several, highest values first. Without a view: the list of views.", nil,
		parameter{"view", "string", "functions, callers-callees, call-tree, lines, pcs, load-objects, threads, timeline, folded, data-objects, ..."},
		parameter{"experiment", "string", "the recording: a name, an id, a pattern, or KEY=VALUE"},
		parameter{"metric", "string", "default: the recording's first"},
		parameter{"mode", "string", "user (default), expert or machine"},
		parameter{"function", "string", "only this function, a part of its name, or a regular expression"},
		parameter{"sum", "boolean", "add up the recordings, with the spread of values over them (lowest, median, highest, imbalance)"},
		parameter{"by", "string", "as sum, with a column for each value of this label or column of experiments"},
		parameter{"sort", "string", "a column; -COLUMN reverses"},
		parameter{"limit", "integer", limitHelp}).with(filterParameters),
	newTool("query", "Runs one SQL query (DuckDB) over the store, which is read-only.", []string{"sql"},
		parameter{"sql", "string", "the SQL; give mode and metric, aggregate in SQL rather than fetching many rows"},
		parameter{"limit", "integer", limitHelp}),
	newTool("explain", "Explains a stack: its recorded frames, and the rules that changed them. Without a stack: how recordings become tables.", nil,
		parameter{"stack", "string", "a stack_id or raw_stack_id of the tables"},
		parameter{"experiment", "string", "the recording, if several have the stack"}),
	newTool("compare", "What differs between two recordings or groups, with intervals and verdicts.", []string{"base", "test"},
		parameter{"base", "string", "the reference: a name, an id, a pattern, or KEY=VALUE"},
		parameter{"test", "string", "what is compared with it"},
		parameter{"by", "string", strings.Join(compare.Subjects, ", ")},
		parameter{"metric", "string", "default: the first that most of them have"},
		parameter{"mode", "string", "user (default), expert or machine"},
		parameter{"limit", "integer", limitHelp}).with(filterParameters),
	newTool("digest", "What changed lately in all programs: since which night, in which functions, how certain. Begin here to find regressions.", nil,
		parameter{"select", "string", "only these recordings: a name, an id, a pattern, or KEY=VALUE"},
		parameter{"since", "string", "a date, or a number of days before the newest night (default 7d)"},
		parameter{"order", "string", "started (default), or label=KEY"},
		parameter{"metric", "string", "default: each recording's default metric"},
		parameter{"mode", "string", "user (default), expert or machine"},
		parameter{"limit", "integer", limitHelp}),
}

func newTool(name, about string, required []string, parameters ...parameter) tool {
	schema := map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return tool{name, about, schema, map[string]any{"readOnlyHint": true}}.with(parameters)
}

func (t tool) with(parameters []parameter) tool {
	for _, p := range parameters {
		described := map[string]any{"type": p.kind, "description": p.about}
		if item, isList := strings.CutSuffix(p.kind, "s"); isList {
			described["type"], described["items"] = "array", map[string]string{"type": item}
		}
		t.properties()[p.name] = described
	}
	return t
}

// properties returns the JSON schemas of the tool's parameters, by name.
func (t *tool) properties() map[string]any { return t.Schema["properties"].(map[string]any) }

type arguments struct {
	Select, Experiment, View, Metric, Mode, Function, Sort string
	SQL, Stack, Base, Test, By, Since, Order               string
	Sum                                                    bool
	Limit                                                  int
	filterArguments
}

// The limits on the rows of an answer.
const (
	defaultRows = 50
	maxRows     = 1000
)

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// runners has the functions of the tools, by name.
var runners = map[string]func(*Server, context.Context, *arguments) (*answer, error){
	"experiments": (*Server).experiments, "report": (*Server).report, "query": (*Server).query, "explain": (*Server).explain, "compare": (*Server).compare,
	"digest": (*Server).digest,
}

// call runs a tool in another process. It returns an error of the tool as a result, so that the
// agent can read it.
func (s *Server) call(ctx context.Context, params json.RawMessage) (any, error) {
	var c toolCall
	if err := json.Unmarshal(params, &c); err != nil {
		return nil, &rpcError{badArguments, "the parameters of tools/call are a name and arguments"}
	}
	if runners[c.Name] == nil {
		return nil, &rpcError{badArguments, "no tool " + terminal.Shorten(c.Name, 100)}
	}
	if _, err := parseArguments(c.Name, c.Arguments); err != nil {
		return s.failure(err), nil
	}
	if s.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.Timeout)
		defer stop()
	}
	answered, err := s.box.Run(ctx, c)
	if err != nil {
		return s.failure(console.Reword(err, s.Timeout)), nil
	}
	defer answered.Body.Release()
	text, err := answered.Body.Bytes()
	if err != nil {
		return nil, err
	}
	return content(string(text), string(answered.Head) == "true"), nil
}

// AnswerCall runs one tool, in the process that call has started. It writes the text of the result,
// and whether the text is an error.
func (s *Server) AnswerCall(ctx context.Context) error {
	return sandbox.Answer(s.in, s.out.Stdout, func(request json.RawMessage, body *os.File) (any, error) {
		var c toolCall
		if err := json.Unmarshal(request, &c); err != nil {
			return nil, err
		}
		var text string
		err := crash.Catch(func() error {
			args, err := parseArguments(c.Name, c.Arguments)
			if err != nil {
				return err
			}
			a, err := runners[c.Name](s, ctx, args)
			if err == nil {
				text = a.fit(s.MaxBytes, s.session.LeftOut)
			}
			return err
		})
		if err != nil {
			text = s.failureText(console.Reword(err, s.Timeout))
		}
		_, failed := body.WriteString(text)
		return err != nil, failed
	})
}

// parseArguments reads the arguments of a tool. It refuses unknown arguments, because ignoring one
// would change the answer.
func parseArguments(name string, text json.RawMessage) (*arguments, error) {
	a := &arguments{Mode: "user", Limit: defaultRows}
	if len(text) > 0 && !bytes.Equal(text, []byte("null")) {
		var given map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(text, &given), json.Unmarshal(text, a)); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		known := tools[slices.IndexFunc(tools, func(t tool) bool { return t.Name == name })].properties()
		for _, k := range slices.Sorted(maps.Keys(given)) {
			if known[k] == nil {
				return nil, fmt.Errorf("arguments: %s has no %q%s", name, terminal.Shorten(k, 100), queries.Suggest(k, slices.Sorted(maps.Keys(known))))
			}
		}
	}
	if a.Limit < 1 || a.Limit > maxRows {
		return nil, fmt.Errorf("limit: %d is not between 1 and %d", a.Limit, maxRows)
	}
	if !slices.Contains(report.Modes, a.Mode) {
		return nil, fmt.Errorf("mode: no mode %q (choose one of %s)", terminal.Shorten(a.Mode, 100), strings.Join(report.Modes, ", "))
	}
	return a, nil
}

// content returns the result of a call, which consists of one text.
func content(text string, failed bool) any {
	r := map[string]any{"content": []map[string]string{{"type": "text", "text": text}}}
	if failed {
		r["isError"] = true
	}
	return r
}

// unsafeHint matches advice in errors about a flag that people can set and agents cannot.
var unsafeHint = lazyregexp.New(` \(--unsafe [^)]*\)`)

// filterFlags matches the flags that errors of filters name: arguments have the same names without
// dashes.
var filterFlags = lazyregexp.New(`--(between|where):`)

// failure returns the result of a call that failed.
func (s *Server) failure(err error) any { return content(s.failureText(err), true) }

func (s *Server) failureText(err error) string {
	text := unsafeHint().ReplaceAllString(terminal.Wording(err), "")
	text = filterFlags().ReplaceAllString(text, "$1:")
	for len(terminal.MarshalJSON(text)) > s.MaxBytes/2 {
		text = terminal.Shorten(text, len([]rune(text))/2)
	}
	return text
}
