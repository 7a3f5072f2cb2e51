//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// protocols are the versions of the protocol that are understood, the latest first.
var protocols = []string{"2025-06-18", "2025-03-26", "2024-11-05"}

// longestRequest bounds a line of the input: nobody types more SQL.
const longestRequest = 1 << 20

// The errors of JSON-RPC 2.0.
const (
	notJSON      = -32700
	noSuchMethod = -32601
	badArguments = -32602
)

// request is a message of the agent; without an id it wants no answer.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
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

// serve answers requests, one after another, until there are no more. Input that never
// ends does not keep the program from ending.
func (m *agents) serve(ctx context.Context) error {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		failed <- orPanic(func() error { return readLines(ctx, m.stdin, lines) })
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case line, ok := <-lines:
			if !ok {
				return <-failed
			}
			if err := m.handle(ctx, line); err != nil {
				return err
			}
		}
	}
}

// readLines passes on lines until the input or the context ends.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, longestRequest)
	for s.Scan() {
		select {
		case lines <- bytes.Clone(s.Bytes()):
		case <-ctx.Done():
			return nil
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a request has more than %d bytes", longestRequest)
	}
	return s.Err()
}

// handle answers one message.
func (m *agents) handle(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return m.respond(json.RawMessage("null"), nil, &rpcError{notJSON, "the request is no JSON-RPC message"})
	}
	if len(r.ID) == 0 { // a notification
		return nil
	}
	result, err := m.result(ctx, r)
	if errors.Is(err, errStuck) {
		return err
	}
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		refused = &rpcError{badArguments, err.Error()}
	}
	return m.respond(r.ID, result, refused)
}

func (m *agents) respond(id json.RawMessage, result any, failed *rpcError) error {
	return m.printJSON(response{"2.0", id, result, failed}, false)
}

// result is what a request is answered with.
func (m *agents) result(ctx context.Context, r request) (any, error) {
	switch r.Method {
	case "initialize":
		return introduction(r.Params), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": tools}, nil
	case "tools/call":
		return m.call(ctx, r.Params)
	}
	return nil, &rpcError{noSuchMethod, "no method " + shorten(r.Method, 100)}
}

// introduction answers the first request: with the version that the agent asked for, or
// the latest that is understood.
func introduction(params json.RawMessage) any {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked) // nothing asked for is the latest
	if !slices.Contains(protocols, asked.Version) {
		asked.Version = protocols[0]
	}
	return map[string]any{
		"protocolVersion": asked.Version,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]string{"name": "stackmill", "version": programVersion()},
		"instructions":    guidance,
	}
}
