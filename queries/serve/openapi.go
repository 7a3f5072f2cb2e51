package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// describe answers with the OpenAPI description of the endpoints.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", jsonType)
	text, err := json.MarshalIndent(description(s.Version), "", "  ")
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(append(text, '\n')) // the client may have gone
}

type object = map[string]any

// description describes the endpoints, in the terms of OpenAPI 3.1.
func description(version string) object {
	paths := object{}
	for i := range endpoints {
		e := &endpoints[i]
		operation := object{
			"summary": e.does, "operationId": operationID(e),
			"responses": object{
				"200":     object{"description": "the answer", "headers": answerHeaders, "content": contents(e)},
				"default": object{"description": "what failed, why, and what to do", "content": object{jsonType: object{"schema": object{"$ref": "#/components/schemas/Error"}}}},
			},
		}
		var parameters []object
		if strings.Contains(e.path, "{name}") {
			parameters = append(parameters, object{"name": "name", "in": "path", "required": true, "schema": object{"type": "string"}, "description": "of a view or report: GET /api/v1/views lists them"})
		}
		for _, p := range e.parameters {
			parameters = append(parameters, object{"name": p.name, "in": "query", "required": p.required, "description": p.does, "schema": p.schema()})
		}
		if parameters != nil {
			operation["parameters"] = parameters
		}
		if e.body != nil {
			fields, required := object{}, []string{}
			for _, p := range e.body {
				field := p.schema()
				field["description"] = p.does
				if fields[p.name] = field; p.required {
					required = append(required, p.name)
				}
			}
			operation["requestBody"] = object{"required": true, "content": object{jsonType: object{"schema": object{"type": "object", "properties": fields, "required": required, "additionalProperties": false}}}}
		}
		paths[e.path] = object{strings.ToLower(e.method): operation}
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "stackmill", "version": version, "description": "Questions about a store of profiler experiments. Values are in base units: ns, bytes, count. Identifiers are texts in JSON."},
		"paths":   paths,
		"components": object{
			"schemas":         object{"Error": object{"type": "object", "properties": object{"error": object{"type": "string"}}, "required": []string{"error"}}},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []object{{}, {"token": []string{}}},
	}
}

var answerHeaders = object{
	"ETag":              object{"description": "the same as long as the answer is the same; not of SQL, nor with where", "schema": object{"type": "string"}},
	"Stackmill-Warning": object{"description": "what readers of the answer should know: a list of texts, in JSON. Those that begin with \"left out: \" are in all answers: a commit file of the store cannot be read, so that its experiments are missing", "schema": object{"type": "string"}},
}

// schema is the JSON schema of a parameter.
func (p *parameter) schema() object {
	s := object{"type": p.kind}
	if p.one != nil && p.kind == "string" {
		s["enum"] = p.one
	}
	if p.several {
		return object{"type": "array", "items": s}
	}
	return s
}

// contents are the media types of an endpoint's answers.
func contents(e *endpoint) object {
	c := object{}
	for _, kind := range e.gives {
		c[kind] = object{}
	}
	return c
}

// operationID is a name for an endpoint, as programs have functions.
func operationID(e *endpoint) string {
	words := slices.DeleteFunc(strings.FieldsFunc(e.path, func(r rune) bool { return strings.ContainsRune("/{}", r) }), func(word string) bool { return word == "api" || word == "v1" })
	return strings.ToLower(e.method) + "_" + strings.Join(words, "_")
}
