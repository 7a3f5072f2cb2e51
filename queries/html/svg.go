package html

import "strings"

// SVGFiles returns the script and the style sheet of flame graphs as images. They may stand in a CDATA section and an
// element, because they have no end of either.
func SVGFiles() (script, style string, err error) {
	text, err := built.ReadFile("built/svg.js")
	if err != nil {
		return "", "", err
	}
	sheet, err := built.ReadFile("built/svg-style.css")
	return strings.TrimSpace(string(text)), strings.TrimSpace(string(sheet)), err
}
