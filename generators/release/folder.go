package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/flow-agents/flow-agents/generators/fileset"
)

// marker is the file that says that a folder is ours to rewrite.
const marker = ".build-bundles"

// beside are folders of a release tree that other commands fill.
var beside = []string{"acceptance", "docs", "observed", "schemas"}

// WriteText writes every bundle's files below out/bundles. A folder that holds
// anything that build-bundles did not put there is refused: a build replaces
// what it finds.
func WriteText(bundles fileset.Set, out string) error {
	if err := claim(out); err != nil {
		return err
	}
	return bundles.Write(filepath.Join(out, "bundles"), nil)
}

func claim(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := false
	for _, e := range entries {
		ours = ours || e.Name() == marker
	}
	for _, e := range entries {
		if !ours && !slices.Contains(beside, e.Name()) {
			return fmt.Errorf("%s holds files that are not of a build, such as %s, and a build replaces what it finds: give --out an empty folder", out, e.Name())
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if ours {
		return nil
	}
	return os.WriteFile(filepath.Join(out, marker), []byte("build-bundles replaces what is in this folder.\n"), 0o644)
}
