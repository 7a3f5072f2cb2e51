package html

import "strings"

// SVGFiles returns the script and the style sheet of flame graphs as images. Both can be embedded in an element or a
// CDATA section, because they do not contain the end of either.
func SVGFiles() (script, style string, err error) {
	text, err := built.ReadFile("built/svg.js")
	if err != nil {
		return "", "", err
	}
	sheet, err := built.ReadFile("built/svg-style.css")
	return strings.TrimSpace(string(text)), strings.TrimSpace(string(sheet)), err
}
