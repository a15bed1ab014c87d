package configprotection

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Links that lead on to links are followed this far. No system goes
	// further.
	maxLinks = 64
	// maxLookups bounds what one event may ask the file system.
	maxLookups = 1 << 16
	// maxPath is longer in bytes than any path that a system opens.
	maxPath = 32 << 10
)

// A place is where a file is, without links in its folders. The last name may
// still be a link; what it leads to is a place of its own.
type place struct {
	path string
	// link is what the link that leads here says; empty for the first place.
	link string
}

// A follower asks the file system where paths lead.
type follower struct {
	// lookups that are left; below 0, answers are not complete.
	lookups int
}

// places returns where a file is, and where the links of its name lead on to.
// Some hosts take ".." out of a path before they open it, and some leave it to
// the system, which follows links first; both are places.
func (f *follower) places(path string) []place {
	list, _ := f.walk(nil, path)
	if clean := filepath.Clean(path); clean != path {
		list, _ = f.walk(list, clean)
	}
	return list
}

// walk goes through an absolute path as the system does: name by name, links
// first, so that ".." means the parent of what a link leads to. Below a folder
// that doesn't exist the names stand for themselves. It adds the places of the
// last name to a list, and returns where it comes to its end.
func (f *follower) walk(list []place, path string) ([]place, string) {
	if len(path) > maxPath {
		return list, path
	}
	var at folder
	rest, link := at.root(path, ""), ""
	missing := 0 // names at the end of at that don't exist
	for links := 0; links <= maxLinks; {
		var name string
		switch name, rest = cut(rest); name {
		case "":
			return list, string(at.path)
		case ".":
			continue
		case "..":
			at.up()
			missing = max(0, missing-1)
			continue
		}
		at.down(name)
		final := ends(rest)
		if final {
			list = append(list, place{string(at.path), link})
		}
		if missing > 0 {
			missing++
			continue
		}
		if f.lookups--; f.lookups < 0 {
			break
		}
		to, err := os.Readlink(string(at.path))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				missing = 1
			}
			continue
		}
		if links++; final {
			link = to
		}
		at.up()
		if to != "" && (os.IsPathSeparator(to[0]) || filepath.VolumeName(to) != "") {
			to = at.root(to, filepath.VolumeName(string(at.path)))
		}
		rest = to + string(filepath.Separator) + rest
	}
	return list, string(at.path)
}

// A folder is an absolute path that grows and shrinks by one name.
type folder struct {
	path []byte
	top  int // length of the part that stays
}

// root begins at the root of a path, on the given volume if the path names
// none, and returns the rest of the path.
func (d *folder) root(path, volume string) string {
	v := filepath.VolumeName(path)
	rest := path[len(v):]
	if v == "" {
		v = volume
	}
	d.path = append(append(d.path[:0], v...), filepath.Separator)
	d.top = len(d.path)
	return rest
}

func (d *folder) down(name string) {
	if len(d.path) > d.top {
		d.path = append(d.path, filepath.Separator)
	}
	d.path = append(d.path, name...)
}

func (d *folder) up() {
	d.path = d.path[:max(d.top, bytes.LastIndexByte(d.path, filepath.Separator))]
}

// cut takes the first name from a path.
func cut(path string) (name, rest string) {
	for path != "" && os.IsPathSeparator(path[0]) {
		path = path[1:]
	}
	for i := range len(path) {
		if os.IsPathSeparator(path[i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// ends reports whether no name follows in a path.
func ends(path string) bool {
	for i := range len(path) {
		switch {
		case os.IsPathSeparator(path[i]):
		case path[i] == '.' && (i == 0 || os.IsPathSeparator(path[i-1])) && (i+1 == len(path) || os.IsPathSeparator(path[i+1])):
		default:
			return false
		}
	}
	return true
}
