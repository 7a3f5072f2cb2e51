package main

import (
	"fmt"
	"strconv"
	"strings"
)

// fraction is a flag that takes 3% or 0.03.
type fraction float64

func (f *fraction) String() string { return strconv.FormatFloat(100*float64(*f), 'g', 6, 64) + "%" }
func (f *fraction) Type() string   { return "PERCENT" }

func (f *fraction) Set(text string) error {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil {
		return fmt.Errorf("%q is no part (write 3%% or 0.03)", text)
	}
	if percent {
		v /= 100
	}
	*f = fraction(v)
	return nil
}
