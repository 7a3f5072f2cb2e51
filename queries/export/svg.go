package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/html"
)

// The sizes of a flame graph in pixels.
const (
	svgWidth  = 1200
	svgHead   = 48 // room for the title above the frames
	svgRow    = 18
	svgLetter = 7.25 // width of a letter; queries/serve/web/src/document/svg.ts has it, too
	thinnest  = 0.25 // narrower frames are left out
)

// mostSVGNodes and mostSVGLevels limit the frames and levels of an SVG file.
const mostSVGNodes, mostSVGLevels = 20_000, 1000

// writeSVG writes the flame graph as an image, which can be zoomed and searched if it is opened by itself in a browser.
func writeSVG(ctx context.Context, s *selection, w io.Writer) error {
	f := newFlameSink(s)
	if err := s.send(ctx, f); err != nil {
		return err
	}
	wide := 0
	for _, n := range f.tree.Nodes {
		if f.width(n.Value) >= thinnest {
			wide++
		}
	}
	g := &svgWriter{flameSink: f, out: bufio.NewWriter(w), cut: f.tree.Cut(min(max(wide, 1), mostSVGNodes)), colors: f.colors()}
	return g.write()
}

// width returns the width in pixels of a frame with a value.
func (f *flameSink) width(v int64) float64 { return float64(v) / f.whole() * svgWidth }

// svgWriter writes a tree as an SVG file.
type svgWriter struct {
	*flameSink
	out    *bufio.Writer // reports errors only at the final Flush
	cut    flametree.Cut
	colors []int // the number of the color of each function of the tree
}

func (g *svgWriter) write() error {
	script, style, err := html.SVGFiles()
	if err != nil {
		return err
	}
	levels, deeper, shown := 0, 0, 0
	for _, n := range g.cut.Shown {
		if n.More == 0 {
			shown++
		}
		if n.Level >= mostSVGLevels {
			deeper++
			continue
		}
		levels = max(levels, int(n.Level)+1)
	}
	height := svgHead + levels*svgRow
	unit := g.metrics[0].unit
	fmt.Fprintf(g.out, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>%s</style>
<rect class="ground" width="100%%" height="100%%"/>
`, svgWidth, height, svgWidth, height, xmlText(g.title+": "+g.metrics[0].name), style)
	remark := fmt.Sprintf("%s of %s, %s mode", html.Amount(float64(g.tree.Total()), unit), g.metrics[0].name, cmp.Or(g.mode, "any"))
	if left := len(g.tree.Nodes) - shown; left > 0 {
		remark += fmt.Sprintf("; %s of %d narrower than %g px or too many, summed in <N more>", queries.Count(left, "frame"), len(g.tree.Nodes), thinnest)
	}
	if deeper > 0 {
		remark += fmt.Sprintf("; %s below level %d not drawn", queries.Count(deeper, "frame"), mostSVGLevels)
	}
	for _, line := range []struct {
		y        int
		id, text string
	}{{18, "head", g.heading()}, {38, "remark", remark}} {
		fmt.Fprintf(g.out, "<text x=\"3\" y=\"%d\" id=\"%s\">%s</text>\n", line.y, line.id, xmlText(fit(line.text, svgWidth-130)))
	}
	fmt.Fprintf(g.out, `<text id="all" class="link" x="%d" y="18" style="display:none">Show all</text><text id="find" class="link" x="%d" y="18" style="display:none">Search</text>
<text id="told" x="3" y="38"/>
`, svgWidth-125, svgWidth-55)
	g.frames()
	fmt.Fprintf(g.out, "<script><![CDATA[%s]]></script>\n</svg>\n", script)
	return g.out.Flush()
}

// frames writes the frames. A frame starts where its caller does, or after its sibling.
func (g *svgWriter) frames() {
	unit := g.metrics[0].unit
	var ends []int64 // where the next frame of each level starts
	for _, n := range g.cut.Shown {
		level := int(n.Level)
		for len(ends) <= level+1 {
			ends = append(ends, 0)
		}
		from := ends[level]
		ends[level], ends[level+1] = from+n.Value, from
		w := g.width(n.Value)
		if level >= mostSVGLevels || w < thinnest {
			continue
		}
		name, object, color := fmt.Sprintf("<%d more>", n.More), "", svgColors
		if n.More == 0 {
			of := g.tree.Functions[n.Name]
			name, object, color = of.Name, of.LoadObject, g.colors[n.Name]
		}
		x, y := g.width(from), svgHead+level*svgRow
		title := fmt.Sprintf("%s: %s, %s", name, html.Amount(float64(n.Value), unit), html.Share(float64(n.Value), g.whole()))
		if n.Exclusive > 0 && n.Exclusive < n.Value {
			title += fmt.Sprintf(", itself %s, %s", html.Amount(float64(n.Exclusive), unit), html.Share(float64(n.Exclusive), g.whole()))
		}
		if object != "" {
			title += "; " + object
		}
		fmt.Fprintf(g.out, "<g class=\"frame\" data-level=\"%d\" data-name=\"%s\"><title>%s</title><rect class=\"f%d\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/><text x=\"%.2f\" y=\"%d\">%s</text></g>\n",
			level, xmlText(name), xmlText(title), color, x, y, w, svgRow-1, x+3, y+13, xmlText(fit(name, w)))
	}
}

// packagePath is the path of a package before a function's name.
var packagePath = lazyregexp.New(`^[\w.+~-]+(/[\w.+~-]+)*/`)

// fit cuts a text to a width in pixels; "" if there is no room for a few letters. It first drops the package's path,
// because the part after it distinguishes functions.
func fit(text string, width float64) string {
	letters := int((width - 6) / svgLetter)
	if letters < 3 {
		return ""
	}
	if utf8.RuneCountInString(text) > letters {
		text = packagePath().ReplaceAllString(text, "")
	}
	if all := []rune(text); len(all) > letters {
		return string(all[:letters-1]) + "…"
	}
	return text
}

// xmlText escapes a text for XML. Characters that XML does not allow become U+FFFD.
func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// svgColors is the number of colors for load objects or modules; one more color is for all others.
const svgColors = 8

// colors returns the color of each function. It depends on the load object, or on the module if one load object has
// most of the value, or on the function's name if one module has most of the value or most modules are unknown.
// queries/serve/web/src/document/flame.tsx chooses in the same way.
func (f *flameSink) colors() []int {
	colors := make([]int, len(f.tree.Functions))
	color := func(n flametree.Function) int { return int(crc32.ChecksumIEEE([]byte(n.Name)) % svgColors) }
	for _, key := range []func(flametree.Function) string{
		func(n flametree.Function) string { return n.LoadObject },
		func(n flametree.Function) string { return strings.TrimSuffix(n.Module, unknownModule) },
	} {
		keys, highest, known := f.colorKeys(key)
		if len(keys) > 0 && float64(highest) <= f.whole()*0.8 && float64(known) >= f.whole()*0.5 {
			color = func(n flametree.Function) int {
				if i := slices.Index(keys, key(n)); i >= 0 {
					return i
				}
				return svgColors
			}
			break
		}
	}
	for n, of := range f.tree.Functions {
		colors[n] = svgColors
		if !isGray(of) {
			colors[n] = color(of)
		}
	}
	return colors
}

// isGray reports whether frames of a function have no color of their own.
func isGray(n flametree.Function) bool { return n.Kind == "artificial" || n.Kind == "unknown" }

// colorKeys returns the keys of the functions with the highest exclusive values, as many as there are colors, the
// highest one first. It also returns the value of the first key and the sum over all keys.
func (f *flameSink) colorKeys(key func(flametree.Function) string) (keys []string, highest, known int64) {
	sums := map[string]int64{}
	for n, of := range f.functions {
		if name := f.tree.Functions[n]; !isGray(name) && key(name) != "" {
			if _, ok := sums[key(name)]; !ok {
				keys = append(keys, key(name))
			}
			sums[key(name)] += of.exclusive
			known += of.exclusive
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	if len(keys) > 0 {
		highest = sums[keys[0]]
	}
	return keys[:min(len(keys), svgColors)], highest, known
}
