//go:build unix

package quoin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	quoin "quoin.dev/client"
)

// The text by which the driver knows the error of a block.
var errLeft = errors.New("left by the scenario")

// TestBehaviour runs the scenarios that all SDKs share. The variable QUOIN_BEHAVIOUR names their driver, with its
// arguments.
func TestBehaviour(t *testing.T) {
	command := strings.Fields(os.Getenv("QUOIN_BEHAVIOUR"))
	if len(command) == 0 {
		t.Skip("QUOIN_BEHAVIOUR does not name a driver")
	}
	driver := exec.Command(command[0], command[1:]...)
	driver.Stderr = os.Stderr
	output, err := driver.StdoutPipe()
	must(t, err)
	// It ends when its input ends, also if this process is killed.
	input, err := driver.StdinPipe()
	must(t, err)
	must(t, driver.Start())
	t.Cleanup(func() {
		input.Close()
		driver.Wait()
	})
	line, err := bufio.NewReader(output).ReadBytes('\n')
	must(t, err)
	go io.Copy(io.Discard, output)
	var started struct{ URL string }
	must(t, json.Unmarshal(line, &started))
	answer, err := http.Get(started.URL + "/scenarios")
	must(t, err)
	var scenarios []struct {
		Name, Title string
		Disturbs    bool
	}
	must(t, json.NewDecoder(answer.Body).Decode(&scenarios))
	answer.Body.Close()
	// Those that disturb run alone, after the others.
	together := make(chan struct{}, 4)
	for _, disturbs := range []bool{false, true} {
		t.Run(fmt.Sprintf("disturbs=%v", disturbs), func(t *testing.T) {
			for _, scenario := range scenarios {
				if scenario.Disturbs != disturbs {
					continue
				}
				t.Run(scenario.Name, func(t *testing.T) {
					if !disturbs {
						t.Parallel()
						together <- struct{}{}
						defer func() { <-together }()
					}
					verdict, message := runScenario(t, started.URL, scenario.Name)
					switch verdict {
					case "passed":
					case "unsupported":
						t.Skip(message)
					default:
						t.Errorf("%s: %s", scenario.Title, message)
					}
				})
			}
		})
	}
}

type object = map[string]any

// unsupported says why this SDK cannot do what a scenario asks for.
type unsupported string

func (u unsupported) Error() string { return string(u) }

type scenarioRun struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	clients map[string]*quoin.Client
	kept    map[string]any
	readers []*reader
	cancels map[string]context.CancelFunc
	blocks  map[string]chan bool
}

func runScenario(t *testing.T, url, name string) (string, string) {
	var begun struct{ Run string }
	must(t, post(url+"/runs", object{"scenario": name, "language": "go"}, &begun))
	run := &scenarioRun{
		t: t, url: url + "/runs/" + begun.Run, clients: map[string]*quoin.Client{}, kept: map[string]any{},
		cancels: map[string]context.CancelFunc{}, blocks: map[string]chan bool{},
	}
	defer func() {
		for _, client := range run.clients {
			client.Close()
		}
		for _, reader := range run.readers {
			reader.close()
		}
	}()
	for {
		var command object
		must(t, post(run.url+"/next", object{}, &command))
		switch command["command"] {
		case "end":
			return text(command["verdict"]), text(command["message"])
		case "client", "close", "call":
			run.begin(command)
		case "cancel":
			run.mu.Lock()
			if cancel := run.cancels[text(command["call"])]; cancel != nil {
				cancel()
			}
			run.mu.Unlock()
		case "leave":
			run.mu.Lock()
			block := run.blocks[text(command["call"])]
			run.mu.Unlock()
			fails, _ := command["fails"].(bool)
			block <- fails
		}
	}
}

// begin carries out a command, and answers when it has ended.
func (r *scenarioRun) begin(command object) {
	id := text(command["id"])
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	r.cancels[id] = cancel
	r.mu.Unlock()
	go func() {
		defer cancel()
		result, err := r.carryOut(ctx, id, command)
		answer := object{"id": command["id"]}
		var own *quoin.Error
		var cannot unsupported
		switch {
		case err == nil:
			answer["result"] = result
		case errors.As(err, &cannot):
			answer["unsupported"] = string(cannot)
		case errors.As(err, &own):
			answer["error"] = object{
				"code": codeName(own.Code.String()), "reason": own.Reason, "outcome": own.Outcome, "retryable": own.Retryable(),
				"details": own.Details, "request_id": own.RequestID, "message": own.Message,
			}
		case errors.Is(err, errLeft):
			answer["error"] = object{"code": "", "message": err.Error()}
		default:
			answer["broken"] = err.Error()
		}
		// The driver takes no answer after the end of the scenario.
		_ = post(r.url+"/answers", answer, nil)
	}()
}

func (r *scenarioRun) carryOut(ctx context.Context, id string, command object) (result any, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if cannot, isKnown := thrown.(unsupported); isKnown {
				err = cannot
			} else {
				err = fmt.Errorf("panic: %v", thrown)
			}
		}
	}()
	name := text(command["client"])
	switch command["command"] {
	case "client":
		client, err := newClient(command["options"].(object))
		if err == nil {
			r.mu.Lock()
			r.clients[name] = client
			r.mu.Unlock()
		}
		return object{}, err
	case "close":
		return object{}, r.clients[name].Close()
	}
	given, _ := command["arguments"].(object)
	entered := 0
	r.mu.Lock()
	c := &scenarioCall{
		ctx: ctx, client: r.clients[name], of: r.kept[text(command["of"])], args: arguments{r.withGuards(maps.Clone(given)).(object)},
	}
	r.mu.Unlock()
	c.keep = func(thing any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.kept[text(command["keep"])] = thing
		if reader, isReader := thing.(*reader); isReader {
			r.readers = append(r.readers, reader)
		}
	}
	c.block = func() error {
		block := make(chan bool)
		r.mu.Lock()
		r.blocks[id] = block
		r.mu.Unlock()
		entered++
		if err := post(r.url+"/answers", object{"id": command["id"], "entered": entered}, nil); err != nil {
			return err
		}
		if <-block {
			return errLeft
		}
		return nil
	}
	operation := text(command["operation"])
	run, isKnown := operations[operation]
	if !isKnown {
		return nil, unsupported("there is no operation " + operation)
	}
	return run(c)
}

// withGuards replaces the names of kept holds and sessions by their guards.
func (r *scenarioRun) withGuards(value any) any {
	switch value := value.(type) {
	case []any:
		for at := range value {
			value[at] = r.withGuards(value[at])
		}
	case object:
		for _, name := range []string{"hold", "session"} {
			if kept, isName := value[name].(string); isName && len(value) == 1 {
				guard := r.kept[kept].(interface{ Guard() quoin.Guard }).Guard()
				if guard.SessionID != 0 {
					return object{"session_id": json.Number(fmt.Sprint(guard.SessionID))}
				}
				return object{"lock_name": guard.LockName, "fencing_token": json.Number(fmt.Sprint(guard.FencingToken)), "rw": guard.RW}
			}
		}
		for name := range value {
			value[name] = r.withGuards(value[name])
		}
	}
	return value
}

func newClient(options object) (*quoin.Client, error) {
	given := arguments{options}
	var endpoints []string
	var opts []quoin.ClientOption
	credentials := quoin.Anonymous()
	for _, name := range sorted(options) {
		switch name {
		case "endpoints":
			for _, one := range options[name].([]any) {
				endpoints = append(endpoints, text(one))
			}
		case "api_key":
			credentials = quoin.APIKey(given.text(name))
		case "token":
			credentials = quoin.Token(given.text(name))
		case "token_file":
			credentials = quoin.TokenFile(given.text(name))
		case "email":
			credentials = quoin.Password(given.text(name), given.text("password"))
		case "password":
		case "timeout_ms":
			opts = append(opts, quoin.WithDefaultTimeout(given.milliseconds(name)))
		case "tls":
			opts = append(opts, quoin.WithTLS(quoin.TLS{CAFile: arguments{options[name].(object)}.text("ca_file")}))
		default:
			return nil, unsupported("the runner has no option " + name)
		}
	}
	return quoin.New(endpoints, credentials, opts...)
}

// reader reads a kept stream, one item at a time.
type reader struct {
	mu    sync.Mutex
	next  func() (object, error, bool)
	close func()
}

func newReader[Item any](items iter.Seq2[Item, error], close func(), describe func(Item) object) *reader {
	next, stop := iter.Pull2(items)
	r := &reader{}
	r.close = func() {
		close()
		r.mu.Lock()
		defer r.mu.Unlock()
		stop()
	}
	r.next = func() (object, error, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		item, err, isOpen := next()
		if err != nil || !isOpen {
			return nil, err, isOpen
		}
		return describe(item), nil, true
	}
	return r
}

func post(url string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := http.Post(url, "application/json", bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		return fmt.Errorf("the driver refused: %s", content)
	}
	if result == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(result)
}

// codeName is the name of a status in the contract, such as NOT_FOUND.
func codeName(name string) string {
	if name == "Canceled" {
		return "CANCELLED"
	}
	var words []string
	for _, letter := range name {
		if letter >= 'A' && letter <= 'Z' {
			words = append(words, "")
		}
		words[len(words)-1] += strings.ToUpper(string(letter))
	}
	return strings.Join(words, "_")
}

func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	}
	panic(unsupported(fmt.Sprintf("a text cannot be %v", value)))
}

func sorted[Value any](from map[string]Value) []string { return slices.Sorted(maps.Keys(from)) }
