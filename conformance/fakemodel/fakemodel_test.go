package fakemodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, script string, opts Options) *Server {
	t.Helper()
	s, err := ParseScript([]byte(script))
	require.NoError(t, err)
	srv, err := Start(s, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = srv.Close() })
	require.True(t, strings.HasPrefix(srv.URL, "http://127.0.0.1:"), srv.URL)
	return srv
}

// ask posts a Messages request; tools is on, as a host's turns have it.
func ask(t *testing.T, srv *Server, stream bool, messages string) (int, string) {
	t.Helper()
	return post(t, srv, "/v1/messages", fmt.Sprintf(
		`{"model":"m-1","stream":%t,"system":[{"type":"text","text":"be good"}],"tools":[{"name":"Write"}],"messages":%s}`, stream, messages))
}

func post(t *testing.T, srv *Server, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", "very-secret")
	req.Header.Set("Authorization", "Bearer very-secret")
	req.Header.Set("User-Agent", "test/1")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

const hello = `[{"role":"user","content":"hello"}]`

type sse struct {
	event string
	data  map[string]any
}

func events(t *testing.T, body string) []sse {
	t.Helper()
	var out []sse
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if name, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			out = append(out, sse{event: name})
		} else if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
			require.NoError(t, json.Unmarshal([]byte(data), &out[len(out)-1].data))
		}
	}
	return out
}

func TestStream(t *testing.T) {
	srv := start(t, `{"main":[[{"text":"I will wríte."},{"tool":"Write","input":{"file_path":"/a","content":"x"}}]]}`, Options{})
	code, body := ask(t, srv, true, hello)
	require.Equal(t, 200, code)

	var names []string
	text, input := "", ""
	for _, e := range events(t, body) {
		names = append(names, e.event)
		assert.Equal(t, e.event, e.data["type"])
		if d, ok := e.data["delta"].(map[string]any); ok && e.event == "content_block_delta" {
			if s, ok := d["text"].(string); ok {
				text += s
			}
			if s, ok := d["partial_json"].(string); ok {
				input += s
			}
		}
		if e.event == "message_delta" {
			assert.Equal(t, "tool_use", e.data["delta"].(map[string]any)["stop_reason"])
		}
	}
	assert.Equal(t, "message_start ping content_block_start content_block_delta content_block_delta content_block_stop "+
		"content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop", strings.Join(names, " "))
	assert.Equal(t, "I will wríte.", text)
	assert.JSONEq(t, `{"file_path":"/a","content":"x"}`, input)
}

func TestPlainAnswerAndResults(t *testing.T) {
	srv := start(t, `{"main":[[{"tool":"Write","id":"c1","input":{}}],[{"text":"done"}]]}`, Options{})
	_, body := ask(t, srv, false, hello)
	var msg struct {
		ID         string
		StopReason string `json:"stop_reason"`
		Content    []struct{ Type, ID, Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &msg))
	assert.Equal(t, "tool_use", msg.StopReason)
	assert.Equal(t, "c1", msg.Content[0].ID)

	_, body = ask(t, srv, false, `[
		{"role":"user","content":[{"type":"text","text":"hello"}]},
		{"role":"assistant","content":[{"type":"text","text":"my own words"},{"type":"tool_use","id":"c1","name":"Write","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"refused because"}]}]},
		{"role":"system","content":"a late note"}]`)
	assert.Contains(t, body, `"end_turn"`)

	reqs := srv.Conversation(Main)
	require.Len(t, reqs, 2)
	assert.Equal(t, "be good\nhello\nrefused because\na late note", reqs[1].Text())
	assert.Equal(t, []ToolResult{{ID: "c1", Text: "refused because", Error: true}}, reqs[1].ToolResults())
	got, ok := srv.ToolResult("c1")
	assert.True(t, ok)
	assert.True(t, got.Error)
	_, ok = srv.ToolResult("c2")
	assert.False(t, ok)
	assert.True(t, srv.Contains("a late note"))
	assert.False(t, srv.Contains("my own words"), "what the model said itself is not what it was told")
}

func TestConversations(t *testing.T) {
	srv := start(t, `{"main":[[{"text":"from main"}]],"sub":[[{"text":"from sub"}]],"sub_mark":"DELEGATED","other":"a name"}`, Options{})
	_, body := post(t, srv, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"title?"}]}`)
	assert.Contains(t, body, "a name")
	main, sub := srv.Left()
	assert.Equal(t, 1, main, "a request without tools consumes no turn")
	assert.Equal(t, 1, sub)

	_, body = ask(t, srv, false, `[{"role":"user","content":"DELEGATED: look around"}]`)
	assert.Contains(t, body, "from sub")
	_, body = ask(t, srv, false, hello)
	assert.Contains(t, body, "from main")
	assert.Zero(t, srv.Overrun())
	_, body = ask(t, srv, false, hello)
	assert.Contains(t, body, "The script has ended.")
	assert.Equal(t, 1, srv.Overrun())
}

func TestInjectedErrorThenRetry(t *testing.T) {
	srv := start(t, `{"main":[{"error":{"status":529,"type":"overloaded_error","message":"later"}},[{"text":"now"}]]}`, Options{})
	code, body := ask(t, srv, true, hello)
	assert.Equal(t, 529, code)
	assert.JSONEq(t, `{"type":"error","error":{"type":"overloaded_error","message":"later"}}`, body)
	_, body = ask(t, srv, false, hello)
	assert.Contains(t, body, "now")
}

func TestOtherPaths(t *testing.T) {
	srv := start(t, `{"main":[]}`, Options{})
	code, body := post(t, srv, "/v1/messages/count_tokens", `{"messages":[]}`)
	assert.Equal(t, 200, code)
	assert.JSONEq(t, `{"input_tokens":100}`, body)

	for _, c := range []struct {
		method, path string
		want         int
	}{{http.MethodHead, "/", 200}, {http.MethodHead, "/v1/messages", 200}, {http.MethodGet, "/", 200}, {http.MethodGet, "/v1/messages", 404}, {http.MethodPost, "/v2/anything", 404}} {
		req, err := http.NewRequest(c.method, srv.URL+c.path, nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, c.want, resp.StatusCode, "%s %s", c.method, c.path)
	}
	reqs := srv.Requests()
	require.Len(t, reqs, 6)
	assert.Equal(t, Count, reqs[0].Kind)
	assert.Equal(t, Probe, reqs[1].Kind)
	assert.Equal(t, Unknown, reqs[5].Kind)
	assert.Equal(t, "/v2/anything", reqs[5].Path)
}

func TestBadBodies(t *testing.T) {
	srv := start(t, `{"main":[[{"text":"still here"}]]}`, Options{MaxBody: 1 << 20})
	for _, body := range []string{`{"model":`, `[]`, `{"messages":[]}`, `{"messages":"x"}`, ``} {
		code, answer := post(t, srv, "/v1/messages", body)
		assert.Equal(t, 400, code, body)
		assert.Contains(t, answer, "invalid_request_error")
	}
	code, _ := post(t, srv, "/v1/messages", strings.Repeat("x", 2<<20))
	assert.Equal(t, 413, code)

	_, answer := ask(t, srv, false, hello)
	assert.Contains(t, answer, "still here", "a bad request consumes no turn")
	for _, r := range srv.Requests()[:6] {
		assert.NotEmpty(t, r.Problem)
	}
}

func TestHugeBody(t *testing.T) {
	srv := start(t, `{"main":[[{"text":"ok"}]]}`, Options{})
	big := strings.Repeat("é", 5<<20)
	code, _ := ask(t, srv, true, `[{"role":"user","content":"`+big+`"}]`)
	assert.Equal(t, 200, code)
	assert.True(t, srv.Contains(big))
}

func TestConcurrent(t *testing.T) {
	const n = 40
	turns := make([]Turn, n)
	for i := range turns {
		turns[i] = Turn{Blocks: []Block{{Text: fmt.Sprintf("turn-%02d.", i)}}, SleepMs: i % 3}
	}
	srv, err := Start(Script{Main: turns}, Options{})
	require.NoError(t, err)
	defer srv.Close()

	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[string]int{}
	for i := range n {
		wg.Go(func() {
			resp, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(
				fmt.Sprintf(`{"tools":[{}],"messages":[{"role":"user","content":"%d"}]}`, i)))
			if !assert.NoError(t, err) {
				return
			}
			defer resp.Body.Close()
			var msg struct{ Content []struct{ Text string } }
			assert.NoError(t, json.NewDecoder(resp.Body).Decode(&msg))
			mu.Lock()
			defer mu.Unlock()
			seen[msg.Content[0].Text]++
		})
	}
	wg.Wait()
	assert.Len(t, seen, n, "every turn is played once")
	for i, r := range srv.Requests() {
		assert.Equal(t, i+1, r.N)
		assert.Equal(t, i+1, r.Turn)
	}
}

func TestClientHangsUp(t *testing.T) {
	srv := start(t, `{"main":[{"sleep_ms":60000,"blocks":[{"text":"never"}]},[{"text":"next"}]]}`, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/messages", strings.NewReader(`{"stream":true,"tools":[{}],"messages":`+hello+`}`))
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(req)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	_, body := ask(t, srv, false, hello)
	assert.Contains(t, body, "next")
	began := time.Now()
	require.NoError(t, srv.Close())
	assert.Less(t, time.Since(began), 5*time.Second, "a sleeping turn must not hold up Close")
}

// A client that stops reading in the middle of a large stream.
func TestClientHangsUpMidStream(t *testing.T) {
	script := Script{Main: []Turn{{Blocks: []Block{{Text: strings.Repeat("x", 8<<20)}}}, {Blocks: []Block{{Text: "next"}}}}}
	srv, err := Start(script, Options{})
	require.NoError(t, err)
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(`{"stream":true,"tools":[{}],"messages":`+hello+`}`))
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, body := ask(t, srv, false, hello)
	assert.Contains(t, body, "next")
}

func TestCutStream(t *testing.T) {
	srv := start(t, `{"main":[{"cut":true,"blocks":[{"text":"half a sentence"}]}]}`, Options{})
	resp, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(`{"stream":true,"tools":[{}],"messages":`+hello+`}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	assert.Error(t, err)
	assert.Contains(t, string(body), "message_start")
	assert.NotContains(t, string(body), "message_stop")
}

func TestDumpHoldsNoSecret(t *testing.T) {
	dir := t.TempDir()
	srv := start(t, `{"main":[[{"text":"ok"}]]}`, Options{Dir: dir})
	ask(t, srv, true, hello)
	post(t, srv, "/v1/messages", "not json")
	require.NoError(t, srv.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.True(t, json.Valid(data))
		assert.False(t, bytes.Contains(data, []byte("very-secret")))
		assert.True(t, bytes.Contains(data, []byte("test/1")))
	}
}

func TestParseScript(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"unknown key":      {`{"mian":[]}`, `unknown field "mian"`},
		"unknown turn key": {`{"main":[{"block":[]}]}`, `unknown field "block"`},
		"empty turn":       {`{"main":[{}]}`, "main turn 1: no blocks and no error"},
		"text and tool":    {`{"main":[[{"text":"a","tool":"b"}]]}`, "exactly one of text and tool"},
		"tool, no input":   {`{"main":[[{"tool":"b"}]]}`, "needs an input object"},
		"sub, no mark":     {`{"sub":[[{"text":"a"}]]}`, "sub needs sub_mark"},
		"odd status":       {`{"main":[{"error":{"status":200,"type":"x","message":"y"}}]}`, "not between 400 and 599"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseScript([]byte(c.script))
			require.ErrorContains(t, err, c.want)
		})
	}
}
