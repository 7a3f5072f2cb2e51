package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// serveOpenAPI answers with the OpenAPI description of the endpoints.
func (s *Server) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	d, err := description(s.Version)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(d) // the client may have gone
}

// object is a JSON object.
type object = map[string]any

// description describes the endpoints in OpenAPI 3.1.
func description(version string) (object, error) {
	schemas, err := rowSchemas()
	if err != nil {
		return nil, err
	}
	schemas["Error"] = object{
		"type":       "object",
		"properties": object{"error": object{"type": "string"}, "line": object{"type": "integer", "description": "the line of the SQL that is wrong, if it is known"}},
		"required":   []string{"error"},
	}
	paths := object{}
	for i := range endpoints {
		e := &endpoints[i]
		paths[e.path] = object{strings.ToLower(e.method): e.operation()}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "stackmill", "version": version,
			"description": "Questions about a store of profiler experiments. Values are in base units: ns, bytes, count. " +
				"Identifiers, and whole numbers beyond 2^53, are strings in JSON.",
		},
		"paths": paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []object{{}, {"token": []string{}}},
	}, nil
}

// operation describes one endpoint.
func (e *endpoint) operation() object {
	o := object{
		"summary": e.summary, "operationId": e.operationID(),
		"responses": object{
			"200": object{"description": "the answer", "headers": answerHeaders, "content": e.contents()},
			"default": object{
				"description": "what failed, why, and what to do",
				"content":     object{jsonType: object{"schema": reference("Error")}},
			},
		},
	}
	var parameters []object
	if strings.Contains(e.path, "{name}") {
		parameters = append(parameters, object{
			"name": "name", "in": "path", "required": true, "schema": object{"type": "string"},
			"description": "the name of a view or report; GET /api/v1/views lists them",
		})
	}
	for _, p := range e.parameters {
		parameters = append(parameters, object{
			"name": p.name, "in": "query", "required": p.required, "description": p.doc, "schema": p.schema(),
		})
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	if e.body != nil {
		fields, required := object{}, []string{}
		for _, p := range e.body {
			field := p.schema()
			field["description"] = p.doc
			if fields[p.name] = field; p.required {
				required = append(required, p.name)
			}
		}
		body := object{"type": "object", "properties": fields, "required": required, "additionalProperties": false}
		o["requestBody"] = object{"required": true, "content": object{jsonType: object{"schema": body}}}
	}
	return o
}

var answerHeaders = object{
	"ETag": object{
		"description": "unchanged while the answer is unchanged; absent for SQL and with where",
		"schema":      object{"type": "string"},
	},
	stateName: object{
		"description": "the state of the store that the answer is from. A request with this header is answered from that state, " +
			"if the server still keeps it, although the store has changed since: compare the answer's header",
		"schema": object{"type": "string"},
	},
	"Stackmill-Warning": object{
		"description": "warnings about the answer: a JSON list of strings. Those that begin with \"left out: \" " +
			"are in every answer: a commit file of the store cannot be read, so its experiments are missing",
		"schema": object{"type": "string"},
	},
}

func reference(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

// schema returns the JSON schema of a parameter.
func (p *parameter) schema() object {
	s := object{"type": p.kind}
	if p.enum != nil && p.kind == "string" {
		s["enum"] = p.enum
	}
	if p.repeatable {
		return object{"type": "array", "items": s}
	}
	return s
}

// contents returns the media types of an endpoint's answers, with the schema of rows in JSON.
func (e *endpoint) contents() object {
	c := object{}
	for _, kind := range e.mediaTypes {
		c[kind] = object{}
	}
	if len(e.rows) > 0 {
		anyOf := make([]object, len(e.rows))
		for i, row := range e.rows {
			anyOf[i] = reference(row)
		}
		c[jsonType] = object{"schema": object{"type": "array", "items": object{"anyOf": anyOf}}}
	}
	return c
}

// operationID returns the endpoint's name as an identifier, for generated clients.
func (e *endpoint) operationID() string {
	words := strings.FieldsFunc(e.path, func(r rune) bool { return strings.ContainsRune("/{}", r) })
	words = slices.DeleteFunc(words, func(word string) bool { return word == "api" || word == "v1" })
	return strings.ToLower(e.method) + "_" + strings.Join(words, "_")
}
