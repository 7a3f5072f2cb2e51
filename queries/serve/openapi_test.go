package serve

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// Handlers accept each parameter in the description with each value that it lists. They accept no other parameters
// and values.
func TestDescription(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   struct {
					Type  string
					Enum  []string
					Items struct{ Type string }
				}
			}
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Properties map[string]struct{ Enum []string }
						Required   []string
					}
				}
			}
			Responses map[string]struct {
				Content map[string]struct{}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.get("/openapi.json")), &d); err != nil {
		t.Fatal(err)
	}
	// Valid values for this store, of parameters for which the description lists no values.
	values := map[string]string{
		"experiment": "monday/test.1.er", "base": "monday/test.1.er", "test": "monday/test.1.er", "metric": "totalcpu", "function": "main", "file": "a.c", "object": "",
		"sort": "exclusive", "search": "main", "limit": "3", "width": "1s", "window": "0.25,0.5", "root": "", "fold": "main", "from": "1", "where": "cpu >= 0", "thread": "4711", "cpu": "0", "pid": "4711", "between": "0s,", "hide": "app", "api-only": "app",
		"fdr": "0.05", "level": "0.9", "min-change": "0.1", "min-share": "0.01", "inline": "true", "inclusive": "true", "columns": "experiment", "as": "pprof", "of": "main",
		"time": "0s,1s", "threads": "3", "intervals": "3", "also": "4711", "at": "17", "process": "1",
		"unfold": "first", "pin": "00000000000000aa.1", "marked": "0s,1s", "column": "1s", "cells": "20", "groups": "mine=^main$",
		"since": "7d", "order": "started", "series": "program,host", "nights": "30",
		"key": "17", "build": "", "pair": "host", "block": "host", "judged": "true", "by": "host", "sum": "true",
		"load-object": "app", "module": "a.c", "offset": "1", "runs": "true", "name": "main", "cycle": "true",
		"type": "{structure:a}", "address": "0x7000", "item": "a.txt", "kind": "file", "run": "00000000000000aa",
	}
	views := map[string]string{"file": "source", "width": "timeline"}
	asked := 0
	for path, methods := range d.Paths {
		for method, o := range methods {
			if method == "post" {
				fields := o.RequestBody.Content[jsonType].Schema
				if len(fields.Required) != 1 || fields.Required[0] != "sql" {
					t.Errorf("%s: it requires %q", path, fields.Required)
				}
				for _, format := range fields.Properties["format"].Enum {
					response, text := s.ask("POST", path, `{"sql": "SELECT 1 AS x", "format": "`+format+`"}`)
					if _, described := o.Responses["200"].Content[response.Header.Get("Content-Type")]; response.StatusCode != 200 || !described {
						t.Errorf("%s: %s as %s: %.200s", path, response.Status, response.Header.Get("Content-Type"), text)
					}
				}
				continue
			}
			ask := func(name, value string) {
				t.Helper()
				if name == "object" || value == "data-object" { // the store has no data objects
					return
				}
				if name == "width" && strings.Contains(path, "flamegraph") {
					value = "800"
				}
				q := url.Values{}
				for _, p := range o.Parameters {
					if p.Required && p.In == "query" {
						q.Set(p.Name, values[p.Name])
					}
				}
				if path == exportPath { // most formats need exactly one metric
					q.Set("metric", "totalcpu")
				}
				if path == "/api/v1/callgraph" {
					q.Set("name", map[string]string{"module": "a.c", "load-object": "app"}[value])
				} else if name == "of" || name == "group" { // these need a side that has a function in its middle
					q.Set("side", "callers")
				}
				if value == "callers" || value == "callees" || name == "group" && path != "/api/v1/callgraph" {
					q.Set("of", values["of"])
				}
				if strings.HasSuffix(path, "/trend") && (name == "limit" || name == "hide" || name == "api-only") { // these need a function
					q.Set("function", values["function"])
					if name == "hide" { // the load object of that function
						q.Set("function", "<app>")
					}
				}
				if (name == "inline" || name == "by") && path == exportPath { // pprof always has inlined functions and threads
					q.Set("as", "folded")
				}
				if name != "" {
					q.Set(name, value)
				}
				if name == "columns" && strings.HasSuffix(path, "/functions") {
					q.Set("columns", "size,history")
				}
				view := views[name]
				if view == "" {
					view = "functions"
				}
				response, text := s.ask("GET", strings.ReplaceAll(path, "{name}", view)+"?"+q.Encode(), "")
				if _, described := o.Responses["200"].Content[response.Header.Get("Content-Type")]; response.StatusCode != 200 || !described {
					t.Errorf("%s with %s=%s: %s as %s: %.200s", path, name, value, response.Status, response.Header.Get("Content-Type"), text)
				}
				asked++
			}
			ask("", "")
			for _, p := range o.Parameters {
				switch {
				case p.In == "path":
				case p.Schema.Enum != nil:
					for _, v := range p.Schema.Enum {
						ask(p.Name, v)
					}
				default:
					value, known := values[p.Name]
					if !known {
						t.Errorf("%s: the test has no value for %s", path, p.Name)
					}
					ask(p.Name, value)
				}
			}
			if response, _ := s.ask("GET", strings.ReplaceAll(path, "{name}", "functions")+"?nonsense=1", ""); response.StatusCode != 400 {
				t.Errorf("%s takes any parameter: %s", path, response.Status)
			}
		}
	}
	if asked < 50 || len(d.Paths) != len(endpoints) {
		t.Errorf("%d requests, %d paths", asked, len(d.Paths))
	}
}
