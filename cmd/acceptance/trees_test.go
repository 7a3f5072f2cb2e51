package acceptance

import (
	"testing"

	"stackmill/cmd/acceptance/suite"
)

// Trees agree with stacks expanded frame by frame.
func TestTreesExpanded(t *testing.T) { suite.CheckTrees(t, shared.DB) }
