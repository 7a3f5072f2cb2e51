package serve

import (
	"fmt"

	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/result"
)

// defaultHits is the default number of hits that a search lists.
const defaultHits = 1000

// searchAnswer is the JSON of a search in a flame graph.
type searchAnswer struct {
	Frames  int        `json:"frames"`   // number of frames with a hit
	LeftOut int        `json:"left_out"` // number of frames that the search does not see, because the side has too many
	Value   any        `json:"value"`    // of the samples that pass a hit
	Total   any        `json:"total"`
	From    int        `json:"from"` // number of the first hit that is listed
	Hits    hitColumns `json:"hits"`
}

// hitColumns has, for each hit in drawing order, its id, function, level and position.
type hitColumns struct {
	ID    []string `json:"id"`
	Name  []string `json:"name"`
	Level []int32  `json:"level"`
	Start []any    `json:"start"`
	Value []any    `json:"value"`
}

// searchFlamegraph answers with the frames of the whole tree that a search finds.
func searchFlamegraph(w *job) error {
	match, err := w.matcher()
	if err != nil {
		return err
	}
	l, err := w.flameLayout()
	if err != nil {
		return err
	}
	a, outermost, err := search(w.call, l.Layout, match)
	if err != nil {
		return err
	}
	var value int64
	for _, n := range outermost {
		value += l.Frames[n].Value
	}
	a.Value, a.Total = exact(value), exact(l.Total())
	return w.writeJSON(a)
}

// search returns the hits of a call, without their value, and the outermost ones.
func search[V flametree.Number](c *call, l *flametree.Layout[V], match func(flametree.Function) bool) (a *searchAnswer, outermost []int32, err error) {
	a = &searchAnswer{LeftOut: l.LeftOut(), Hits: hitColumns{ID: []string{}, Name: []string{}, Level: []int32{}, Start: []any{}, Value: []any{}}}
	if a.From, err = c.intValue("from", 0); err != nil {
		return nil, nil, err
	}
	limit, err := c.intValue("limit", defaultHits)
	if err != nil {
		return nil, nil, err
	}
	hits, outermost := l.Search(match)
	a.Frames = len(hits)
	hits = hits[min(a.From, len(hits)):]
	for _, n := range hits[:min(limit, len(hits))] {
		f, h := &l.Frames[n], &a.Hits
		h.ID, h.Name = append(h.ID, fmt.Sprintf("%016x", f.ID)), append(h.Name, l.Functions[f.Function].Name)
		h.Level, h.Start, h.Value = append(h.Level, f.Level), append(h.Start, exact(f.Start)), append(h.Value, exact(f.Value))
	}
	return a, outermost, nil
}

// exact returns a value for JSON: whole numbers that readers could not represent exactly are strings.
func exact[V flametree.Number](v V) any { return result.Exact(v, "") }

// matcher returns whether a function matches the search of a call.
func (c *call) matcher() (func(flametree.Function) bool, error) {
	is, err := queries.ParseSearch(c.values.Get("search"))
	if err != nil {
		return nil, badRequest(err)
	}
	return func(f flametree.Function) bool { return is(f.Name) || is(f.LoadObject) || is(f.Module) }, nil
}
