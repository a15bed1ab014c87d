// Package source finds bundles and programs in a folder that a release, or a
// part of one, was unpacked to.
package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// Layouts of a release, as build-bundles writes it:
//
//	DIR/bundles/<host>/bundle.json        the tree
//	DIR/bin/<os>_<arch>/flow-agents
//	DIR/flow-agents                       an archive of programs
//	DIR/bundle.json                       an archive of one bundle
//	DIR/<any>/bundle.json                 bundles side by side
//
// An archive unpacks to a folder of its own name, which may be the DIR or in it.

// A Source is what was found in a folder.
type Source struct {
	Dir string
	// Bundles is nil if there are none.
	Bundles fs.FS
	// Hook and Self are programs for this platform; empty if there are none.
	Hook, Self string
}

// Open looks for bundles and programs in a folder. To find neither is an error.
func Open(dir string) (*Source, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, &install.UsageError{Msg: fmt.Sprintf("--from %s: not a folder; give one that a release was unpacked to", dir)}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	s := &Source{Dir: dir}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	for _, at := range []string{filepath.Join(dir, "bin", platform), dir, filepath.Join(dir, "flow-agents_"+platform)} {
		s.Hook, s.Self = file(at, "flow-agents-hook"), file(at, "flow-agents")
		if s.Hook != "" || s.Self != "" {
			break
		}
	}
	for _, at := range []string{filepath.Join(dir, "bundles"), dir} {
		if hasBundles(os.DirFS(at)) {
			s.Bundles = os.DirFS(at)
			break
		}
	}
	if s.Bundles == nil && s.Hook == "" && s.Self == "" {
		return nil, fmt.Errorf("--from %s: holds neither bundles (bundles/<host>/%s) nor programs for this platform (bin/%s/flow-agents-hook)%s",
			dir, bundle.Name, platform, s.others())
	}
	return s, nil
}

// Use makes an installer take what was found, and tell what it takes from
// elsewhere.
func (s *Source) Use(in *install.Installer) {
	in.Release = s.Dir
	switch {
	case s.Bundles != nil:
		in.Bundles = s.Bundles
	default:
		in.Notes = append(in.Notes, fmt.Sprintf("%s holds programs only: the programs come from there, the hooks from this program's own bundles.", s.Dir))
	}
	switch {
	case s.Hook != "":
		in.Hook = s.Hook
	default:
		in.Notes = append(in.Notes, fmt.Sprintf("%s holds no flow-agents-hook for %s/%s%s: the hooks come from there, the programs stay those of this program.", s.Dir, runtime.GOOS, runtime.GOARCH, s.others()))
	}
	if s.Self != "" {
		in.Self = s.Self
	}
}

// others names the platforms that a folder has programs for, if it has any.
func (s *Source) others() string {
	dirs, err := fs.Glob(os.DirFS(filepath.Join(s.Dir, "bin")), "*_*")
	if err != nil {
		return ""
	}
	var names []string
	for _, d := range dirs {
		names = append(names, strings.Replace(d, "_", "/", 1))
	}
	if len(names) == 0 {
		return ""
	}
	return ", only programs for " + strings.Join(names, ", ")
}

func hasBundles(tree fs.FS) bool {
	for _, pattern := range []string{bundle.Name, "*/" + bundle.Name} {
		if found, err := fs.Glob(tree, pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

func file(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
