//go:build cgo

// Package mcp answers the requests of an agent, by the Model Context Protocol over lines of JSON.
// Each call of a tool runs in a process of its own, which can be killed.
//
// Start reading with Server.Serve.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"stackmill/internal/crash"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/console"
	"stackmill/queries/sandbox"
)

// Options are the options of a server.
type Options struct {
	Store      string
	Version    string                // stackmill's version
	Program    []string              // command line of the process that answers one call
	MaxBytes   int                   // limit for one answer
	Concurrent int                   // number of calls that run at the same time
	Timeout    time.Duration         // limit for one call; 0: no limit
	Memory     int64                 // bytes for each process that answers a call
	Stages     func(io.Writer) error // prints the stages that make a store from a recording
}

// Server answers one agent.
type Server struct {
	Options
	session console.Session
	box     sandbox.Box
	in      io.Reader
	out     *terminal.Output
}

// New returns a server that reads requests from in.
func New(in io.Reader, out *terminal.Output, o Options) *Server {
	s := &Server{Options: o, in: in, out: out, box: sandbox.Box{Program: o.Program, Memory: o.Memory, Largest: int64(o.MaxBytes), Errors: out.Stderr}}
	s.session.Limits.Memory = o.Memory
	return s
}

// open opens the store anew for each answer, so that the answer includes what was just ingested.
func (s *Server) open(ctx context.Context, selectors ...string) (*queries.DB, error) {
	selectors = slices.DeleteFunc(selectors, func(selector string) bool { return selector == "" })
	return s.session.Open(ctx, s.out, s.Store, selectors...)
}

// MinBytes is the lowest limit that leaves room for an answer.
const MinBytes = 1 << 10

// protocols are the supported versions of the protocol, the latest first.
var protocols = []string{"2025-06-18", "2025-03-26", "2024-11-05"}

// The limits of a connection.
const (
	maxRequest = 1 << 20         // bytes of an input line
	maxCalls   = 64              // calls of tools in progress, running or waiting
	maxBatch   = 64              // messages in a list on one line
	lastAnswer = 5 * time.Second // how long to wait for each further answer after the end of the input
)

// The error codes of JSON-RPC 2.0.
const (
	notJSON      = -32700
	noRequest    = -32600
	noSuchMethod = -32601
	badArguments = -32602
	overloaded   = -32000
)

// request is a message of the agent. A message without an id is a notification: it gets no answer.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"` // set in responses of the agent, which are ignored: the server sends no requests
	Error  json.RawMessage `json:"error"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// connection reads the agent's messages while calls of tools are running.
type connection struct {
	*Server
	slots    chan struct{} // has a value for each running call
	answered chan struct{} // signals that an answer was written

	writing sync.Mutex

	mu    sync.Mutex
	calls map[string]context.CancelCauseFunc // cancels calls in progress; by request id
}

// The causes of canceled calls.
var (
	errCanceled = errors.New("the agent has canceled the call")
	errGone     = errors.New("the agent has closed the connection")
)

// Serve answers requests until the input ends.
func (s *Server) Serve(ctx context.Context) error {
	c := &connection{Server: s, slots: make(chan struct{}, s.Concurrent), answered: make(chan struct{}, 1), calls: map[string]context.CancelCauseFunc{}}
	ctx, end := context.WithCancelCause(ctx)
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		failed <- crash.Catch(func() error { return readLines(ctx, s.in, lines) })
	}()
	var handlers sync.WaitGroup
	defer handlers.Wait()
	defer end(nil)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case line, more := <-lines:
			if !more {
				c.finish(&handlers)
				return <-failed
			}
			if answer := c.receive(ctx, line); answer != nil {
				handlers.Go(func() {
					if err := crash.Catch(func() error { return c.write(answer()) }); err != nil {
						end(err) // nobody reads the answers
					}
				})
			}
		}
	}
}

// finish waits for the calls in progress after the agent has gone. It cancels them when none ends
// within lastAnswer.
func (c *connection) finish(handlers *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		handlers.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		case <-c.answered:
		case <-time.After(lastAnswer):
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, cancel := range c.calls {
				cancel(errGone)
			}
			return
		}
	}
}

// write writes an answer, if there is one.
func (c *connection) write(answer any) error {
	if answer == nil {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := terminal.PrintJSON(c.out.Stdout, answer, false); err != nil {
		return err
	}
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return nil
}

// readLines sends the lines of the input to a channel, nil for a line that is too long. It returns
// when the input or the context ends.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err == nil || len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// readLine reads a line; it returns nil for one that is too long.
func readLine(r *bufio.Reader) (line []byte, err error) {
	line = []byte{}
	for {
		part, err := r.ReadSlice('\n')
		if line != nil {
			line = append(line, part...)
		}
		if len(line) > maxRequest {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// receive returns a function that answers a line of input; nil if it needs no answer. The line has
// one message, or a list of messages that are answered together.
func (c *connection) receive(ctx context.Context, line []byte) (answer func() any) {
	if line == nil {
		return fail(nil, noRequest, fmt.Sprintf("the request has more than %d bytes", maxRequest))
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if line[0] != '[' {
		return c.accept(ctx, line)
	}
	var list []json.RawMessage
	switch err := json.Unmarshal(line, &list); {
	case err != nil:
		return fail(nil, notJSON, "the request is not valid JSON")
	case len(list) == 0 || len(list) > maxBatch:
		return fail(nil, noRequest, fmt.Sprintf("a list has 1 to %d requests", maxBatch))
	}
	var answers []func() any
	for _, message := range list {
		if a := c.accept(ctx, message); a != nil {
			answers = append(answers, a)
		}
	}
	if answers == nil {
		return nil
	}
	return func() any { return answerAll(answers) }
}

// answerAll computes the answers to a list of messages at the same time; nil if all calls were
// canceled.
func answerAll(answers []func() any) any {
	made := make([]any, len(answers))
	var all sync.WaitGroup
	for i, answer := range answers {
		all.Go(func() { made[i] = answer() })
	}
	all.Wait()
	if made = slices.DeleteFunc(made, func(a any) bool { return a == nil }); len(made) == 0 {
		return nil
	}
	return made
}

// accept returns a function that answers a message, nil if it needs no answer. When accept returns,
// a call can already be canceled.
func (c *connection) accept(ctx context.Context, message []byte) (answer func() any) {
	var r request
	if err := json.Unmarshal(message, &r); err != nil {
		if json.Valid(message) {
			return fail(nil, noRequest, "the request is not a JSON-RPC message")
		}
		return fail(nil, notJSON, "the request is not valid JSON")
	}
	switch {
	case r.Method == "" && (r.Result != nil || r.Error != nil):
		return nil
	case r.Method == "":
		return fail(nil, noRequest, "the request has no method")
	case r.ID == nil:
		c.notify(r)
		return nil
	case r.ID[0] != '"' && r.ID[0] != '-' && (r.ID[0] < '0' || r.ID[0] > '9'):
		return fail(nil, noRequest, "the id is neither a string nor a number")
	}
	if r.Method == "tools/call" {
		return c.acceptCall(ctx, r)
	}
	return func() any {
		result, err := c.plainResult(r)
		return respond(r.ID, result, err)
	}
}

// acceptCall registers a call of a tool and returns the function that runs it.
func (c *connection) acceptCall(ctx context.Context, r request) (answer func() any) {
	ctx, cancel := context.WithCancelCause(ctx)
	id := string(r.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.calls[id] != nil:
		cancel(nil)
		return fail(r.ID, noRequest, "a call with this id is under way")
	case len(c.calls) == maxCalls:
		cancel(nil)
		return fail(r.ID, overloaded, "too many calls are under way (ask again in a moment)")
	}
	c.calls[id] = cancel
	return func() any {
		defer c.forget(id)
		content, err := c.callInSlot(ctx, r.Params)
		if context.Cause(ctx) == errCanceled {
			return nil
		}
		return respond(r.ID, content, err)
	}
}

// callInSlot runs a tool when fewer than Concurrent calls are running.
func (c *connection) callInSlot(ctx context.Context, params json.RawMessage) (any, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return c.call(ctx, params)
}

// forget removes a call that has ended.
func (c *connection) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[id](nil)
	delete(c.calls, id)
}

func (c *connection) notify(r request) {
	var of struct {
		ID json.RawMessage `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &of) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.calls[string(of.ID)]; cancel != nil {
		cancel(errCanceled)
	}
}

// fail returns a function that answers with an error.
func fail(id json.RawMessage, code int, message string) func() any {
	return func() any { return respond(id, nil, &rpcError{code, message}) }
}

func respond(id json.RawMessage, result any, err error) any {
	if id == nil {
		id = json.RawMessage("null")
	}
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		refused = &rpcError{badArguments, terminal.Wording(err)}
	}
	return response{"2.0", id, result, refused}
}

// plainResult returns the result of a request other than tools/call.
func (c *connection) plainResult(r request) (any, error) {
	switch r.Method {
	case "initialize":
		return c.introduction(r.Params), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": tools}, nil
	}
	return nil, &rpcError{noSuchMethod, "no method " + terminal.Shorten(r.Method, 100)}
}

// introduction answers the request initialize, with the version of the protocol that the agent
// asked for or, if that is not supported, the latest.
func (c *connection) introduction(params json.RawMessage) any {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked) // if this fails, Version stays empty
	if !slices.Contains(protocols, asked.Version) {
		asked.Version = protocols[0]
	}
	return map[string]any{
		"protocolVersion": asked.Version,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]string{"name": "stackmill", "version": c.Version},
		"instructions":    guidance,
	}
}
