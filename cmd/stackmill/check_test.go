package main

import (
	"testing"
	"time"

	"stackmill/queries"
)

func TestSinceOption(t *testing.T) {
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	for text, want := range map[string]queries.CheckOptions{
		"":                     {},
		"24h":                  {Since: now.Add(-24 * time.Hour)},
		"7d":                   {Since: now.Add(-7 * 24 * time.Hour)},
		"2026-11-21":           {Since: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)},
		"2026-11-21T06:00:00Z": {Since: now.Add(-24 * time.Hour)},
		"b00000000000000aa":    {SinceBatch: "b00000000000000aa"},
		"0123456789abcdef":     {SinceBatch: "0123456789abcdef"},
	} {
		if got := sinceOption(text, now); !got.Since.Equal(want.Since) || got.SinceBatch != want.SinceBatch {
			t.Errorf("%q: %v %q", text, got.Since, got.SinceBatch)
		}
	}
}
