package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
)

// syntax is a node of a parsed statement, as the engine serializes it.
type syntax map[string]any

func (s syntax) text(key string) string { t, _ := s[key].(string); return t }

func (s syntax) part(keys ...string) syntax {
	for _, k := range keys {
		next, _ := s[k].(map[string]any)
		s = next
	}
	return s
}

func (s syntax) list(key string) (parts []syntax) {
	items, _ := s[key].([]any)
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			parts = append(parts, m)
		}
	}
	return parts
}

// each visits all nodes in x, outermost first. It skips the inside of a node for which visit
// returns false.
func each(x any, visit func(syntax) bool) {
	switch x := x.(type) {
	case syntax:
		each(map[string]any(x), visit)
	case map[string]any:
		if visit(x) {
			for _, v := range x {
				each(v, visit)
			}
		}
	case []any:
		for _, v := range x {
			each(v, visit)
		}
	}
}

// parseSQL returns a SELECT as the engine parses it. Numbers are json.Number: some have 64 bits.
func parseSQL(ctx context.Context, conn *sql.Conn, query string) (tree syntax, err error) {
	var text string
	if err := conn.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", query).Scan(&text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if message := tree.text("error_message"); message != "" {
		return nil, errors.New(firstLine(message))
	}
	return tree, nil
}
