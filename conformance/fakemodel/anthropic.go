package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropic is the Messages API,
// streaming as server-sent events or in one piece.
type anthropic struct{}

func (anthropic) route(method, path string) (Kind, bool) {
	if method != http.MethodPost {
		return Unknown, false
	}
	switch strings.TrimSuffix(path, "/") {
	case "/v1/messages":
		return Chat, true
	case "/v1/messages/count_tokens":
		return Count, true
	}
	return Unknown, false
}

type anthropicRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	System   json.RawMessage   `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

func (anthropic) parse(body []byte) (chat, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return chat{}, fmt.Errorf("the body is not a Messages request: %w", err)
	}
	if len(in.Messages) == 0 {
		return chat{}, fmt.Errorf("messages: at least one message is required")
	}
	c := chat{model: in.Model, stream: in.Stream, tools: len(in.Tools) > 0}
	for _, b := range anthropicBlocks(in.System) {
		c.told = append(c.told, b.Text)
	}
	for i, m := range in.Messages {
		blocks := anthropicBlocks(m.Content)
		if i == 0 {
			c.first = anthropicText(blocks)
		}
		// Some models get context as messages of role system, so everything
		// but the model's own words counts.
		if m.Role == "assistant" {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				c.told = append(c.told, b.Text)
			case "tool_result":
				text := anthropicText(anthropicBlocks(b.Content))
				c.told = append(c.told, text)
				c.results = append(c.results, ToolResult{ID: b.ToolUseID, Text: text, Error: b.IsError})
			}
		}
	}
	return c, nil
}

// anthropicBlocks reads content, which is a string or an array of blocks.
func anthropicBlocks(raw json.RawMessage) []anthropicBlock {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}
	}
	var blocks []anthropicBlock
	_ = json.Unmarshal(raw, &blocks) // absent, or a shape with no text in it
	return blocks
}

func anthropicText(blocks []anthropicBlock) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

type object = map[string]any

func (anthropic) count(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, object{"input_tokens": 100})
}

func (anthropic) fail(w http.ResponseWriter, e APIError) {
	writeJSON(w, e.Status, object{"type": "error", "error": object{"type": e.Type, "message": e.Message}})
}

// Fixed, so that usage figures in a test have one right value.
func anthropicUsage() object {
	return object{"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
}

func (anthropic) reply(w http.ResponseWriter, c chat, id string, blocks []Block, cut bool) error {
	stop := "end_turn"
	content := []object{}
	for _, b := range blocks {
		if b.Tool == "" {
			content = append(content, object{"type": "text", "text": b.Text})
			continue
		}
		stop = "tool_use"
		content = append(content, object{"type": "tool_use", "id": b.ID, "name": b.Tool, "input": b.Input})
	}
	message := object{
		"id": id, "type": "message", "role": "assistant", "model": c.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": anthropicUsage(),
	}
	w.Header().Set("Request-Id", "req_"+id)
	if !c.stream {
		writeJSON(w, http.StatusOK, message)
		return nil
	}
	message["content"], message["stop_reason"] = []object{}, nil
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)

	var err error
	send := func(event string, v object) {
		if err != nil {
			return
		}
		v["type"] = event
		var data []byte
		if data, err = json.Marshal(v); err != nil {
			return
		}
		if _, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err == nil {
			err = out.Flush()
		}
	}
	send("message_start", object{"message": message})
	send("ping", object{})
	for i, b := range blocks {
		start, deltas := anthropicDeltas(b)
		send("content_block_start", object{"index": i, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", object{"index": i, "delta": d})
			if cut {
				// Aborts the connection, so that the client sees a broken
				// stream and not a short one.
				panic(http.ErrAbortHandler)
			}
		}
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 20}})
	send("message_stop", object{})
	return err
}

// anthropicDeltas splits a block as a real stream does: hosts that only work
// with whole blocks shouldn't pass here.
func anthropicDeltas(b Block) (start object, deltas []object) {
	if b.Tool == "" {
		for _, part := range halves(b.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": part})
		}
		return object{"type": "text", "text": ""}, deltas
	}
	for _, part := range halves(string(b.Input)) {
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": part})
	}
	return object{"type": "tool_use", "id": b.ID, "name": b.Tool, "input": object{}}, deltas
}

// halves cuts a text in two at a character boundary.
func halves(s string) []string {
	runes := []rune(s)
	if len(runes) < 2 {
		return []string{s}
	}
	return []string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}
