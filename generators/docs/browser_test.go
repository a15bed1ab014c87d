package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/docs"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
)

// page is matrix.html of the shipped hosts, on disk.
func page(t *testing.T) string {
	t.Helper()
	out, err := docs.Emit(catalog(t, load.Options{}), os.DirFS("../.."))
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "matrix.html")
	for _, f := range out {
		if f.Path == "matrix.html" {
			require.NoError(t, os.WriteFile(name, f.Data, 0o644))
			require.Less(t, len(f.Data), 150_000)
			require.NotRegexp(t, `(src|href|url\()\s*=?\s*["']?(https?:)?//`, string(f.Data))
		}
	}
	return name
}

// measured is a page that shows the matrix in a frame of a width and height,
// because a window can't be as narrow as a phone, and says in an attribute of
// its root what does not fit: "width" for a page that moves sideways, "scroll" for a box that
// moves up and down in it, "clipped:TEXT" for text that is cut off, "filled" for
// a planned cell that looks like one that works, "unsaid" for one that does not
// say that it is planned. The first word is the width of the page.
func measured(t *testing.T, file string, width, height int) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	const script = `<script>addEventListener('load', function () {
  var root = document.documentElement, said = [innerWidth];
  if (root.scrollWidth > root.clientWidth) said.push('width');
  document.querySelectorAll('body *').forEach(function (e) {
    var s = getComputedStyle(e);
    if (e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(s.overflowY)) said.push('scroll');
    if (e.clientWidth && e.scrollWidth > e.clientWidth + 1 && (e.matches('td, th, .c, .m') || /hidden|clip/.test(s.overflowX))) said.push('clipped:' + e.textContent.trim().slice(0, 30).replace(/\s/g, '_'));
  });
  document.querySelectorAll('.planned td .g').forEach(function (e) {
    var s = getComputedStyle(e);
    if (s.backgroundImage !== 'none' || !/, 0\)$|transparent/.test(s.backgroundColor)) said.push('filled');
  });
  document.querySelectorAll('.planned .c').forEach(function (e) {
    if (!/^planned/.test(e.querySelector('.y').textContent)) said.push('unsaid');
  });
  if (!document.querySelector('tr.planned')) said.push('no_planned_row');
  parent.postMessage(said.join(' '), '*');
})</script></body>`
	const frame = `<!doctype html><script>addEventListener('message', function (e) {
  document.documentElement.dataset.measured = e.data;
})</script><iframe src="inner.html" style="border: 0; width: %dpx; height: %dpx"></iframe>`
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inner.html"), bytes.Replace(data, []byte("</body>"), []byte(script), 1), 0o644))
	name := filepath.Join(dir, "frame.html")
	require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, frame, width, height), 0o644))
	return name
}

// A place is a cell of the matrix that has a text behind it.
type place struct {
	Row, Name, Text string
	Column          int
}

// firstGap is the first gap of the first host that has one.
func firstGap(t *testing.T) place {
	t.Helper()
	c := catalog(t, load.Options{})
	column := 0
	for _, h := range c.Hosts {
		for _, s := range declaration.Surfaces(h) {
			name := h.Title
			if len(h.Surfaces) > 1 {
				name += " " + s
			}
			for _, e := range c.Events {
				if m := h.Surfaces[s].Events[e.ID]; m.Kind == model.Gap {
					return place{e.ID, name, m.Degradation, column}
				}
			}
			column++
		}
	}
	t.Fatal("no host has a gap")
	return place{}
}

// TestBrowser opens the page in a real browser whose every request would go to
// a proxy of ours, which takes note.
func TestBrowser(t *testing.T) {
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			chromium = p
			break
		}
	}
	if chromium == "" {
		t.Skip("no chromium is installed")
	}
	if testing.Short() {
		t.Skip("starts a browser")
	}
	var mu sync.Mutex
	var asked []string
	// The browser calls its maker on its own account.
	own := regexp.MustCompile(`^(update\.googleapis|accounts\.google|clients\d*\.google|content-autofill\.googleapis|optimizationguide-pa\.googleapis|edgedl\.me\.gvt1|redirector\.gvt1)\.com(:\d+)?$`)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !own.MatchString(r.Host) {
			asked = append(asked, r.Method+" "+r.Host+r.URL.Path)
		}
		http.Error(w, "offline", http.StatusBadGateway)
	}))
	defer proxy.Close()
	file := page(t)
	gap := firstGap(t)
	open := func(t *testing.T, file, hash, size string) (dom, log string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, chromium,
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--enable-logging=stderr",
			"--window-size="+size, "--user-data-dir="+t.TempDir(), "--proxy-server="+proxy.Listener.Addr().String(), "--dump-dom", "file://"+file+hash)
		var out, msg bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &msg
		require.NoError(t, cmd.Run(), "%s", msg.Bytes())
		return out.String(), msg.String()
	}
	rows := regexp.MustCompile(`<tr data-id="([^"]+)" data-name="[^"]*"(?: class="planned")?( hidden="")?>`)
	shown := func(dom string) []string {
		var ids []string
		for _, m := range rows.FindAllStringSubmatch(dom, -1) {
			if m[2] == "" {
				ids = append(ids, m[1])
			}
		}
		return ids
	}
	columns := regexp.MustCompile(`<th scope="col" data-c="\d+" data-host="([^"]+)" data-name="[^"]*"( hidden="")?>`)

	for _, tc := range []struct {
		name, hash string
		check      func(t *testing.T, dom string)
	}{
		{"everything", "", func(t *testing.T, dom string) {
			require.Len(t, shown(dom), len(rows.FindAllString(dom, -1)))
			require.NotContains(t, dom, `class="x faint"`)
			require.Contains(t, dom, `<div id="tip" role="tooltip" hidden="">`)
			require.Equal(t, 1, strings.Count(dom, `class="c" tabindex="0"`), "one cell is in the tab order")
		}},
		{"text", "#q=preToolUse", func(t *testing.T, dom string) {
			require.Contains(t, shown(dom), "preToolUse")
			require.NotContains(t, shown(dom), "notification")
			require.Regexp(t, `<output[^>]*>\d+ of \d+ rows, \d+ of \d+ surfaces</output>`, dom)
		}},
		{"hosts", "#host=claude-code", func(t *testing.T, dom string) {
			for _, m := range columns.FindAllStringSubmatch(dom, -1) {
				require.Equal(t, m[1] != "claude-code", m[2] != "", m[1])
			}
		}},
		{"state and basis", "#state=gap&host=claude-code&basis=source", func(t *testing.T, dom string) {
			require.Equal(t, []string{"modelResponse"}, shown(dom))
		}},
		{"nothing", "#q=no%20such%20words%20anywhere", func(t *testing.T, dom string) {
			require.Empty(t, shown(dom))
		}},
		{"markup in the filter", "#q=%3Cimg%20src=x%3E", func(t *testing.T, dom string) {
			require.Empty(t, shown(dom))
			require.NotContains(t, dom, "<img")
		}},
		{"focus shows the text", "#cell=" + gap.Row + "@" + strconv.Itoa(gap.Column), func(t *testing.T, dom string) {
			require.Regexp(t, `<div id="tip" role="tooltip" style="[^"]*"><h4>`+gap.Row+` on `+gap.Name+`</h4>`, dom)
			require.Regexp(t, `(?s)<div id="tip".*`+regexp.QuoteMeta(html.EscapeString(gap.Text))+`.*<script>`, dom)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dom, log := open(t, file, tc.hash, "1280,800")
			require.Contains(t, dom, `data-ready="yes"`, "the script ran to its end")
			require.NotContains(t, log, "CONSOLE")
			tc.check(t, dom)
		})
	}
	for _, size := range [][2]int{{390, 844}, {1280, 800}, {1440, 900}} {
		t.Run(fmt.Sprintf("layout %d", size[0]), func(t *testing.T) {
			dom, _ := open(t, measured(t, file, size[0], size[1]), "", "1600,1000")
			m := regexp.MustCompile(`data-measured="([^"]*)"`).FindStringSubmatch(dom)
			require.NotNil(t, m, "the page was measured")
			said := strings.Split(m[1], " ")
			require.Equal(t, strconv.Itoa(size[0]), said[0], "the width that was measured")
			require.Empty(t, said[1:], "what doesn't fit")
		})
	}
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, asked, "the page asked the network for something")
}
