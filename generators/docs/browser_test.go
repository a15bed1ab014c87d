package docs_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/docs"
	"github.com/flow-agents/flow-agents/generators/load"
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
	open := func(t *testing.T, hash string) (dom, log string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, chromium,
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--enable-logging=stderr",
			"--user-data-dir="+t.TempDir(), "--proxy-server="+proxy.Listener.Addr().String(), "--dump-dom", "file://"+file+hash)
		var out, msg bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &msg
		require.NoError(t, cmd.Run(), "%s", msg.Bytes())
		return out.String(), msg.String()
	}
	rows := regexp.MustCompile(`<tr data-id="([^"]+)"( hidden="")?>`)
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
		{"focus shows the text", "#cell=modelResponse@0", func(t *testing.T, dom string) {
			require.Regexp(t, `<div id="tip" role="tooltip" style="[^"]*"><h4>modelResponse on Claude Code</h4>`, dom)
			require.Contains(t, dom, "Token usage is not pushed to hooks")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dom, log := open(t, tc.hash)
			require.Contains(t, dom, `data-ready="yes"`, "the script ran to its end")
			require.NotContains(t, log, "CONSOLE")
			tc.check(t, dom)
		})
	}
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, asked, "the page asked the network for something")
}
