package quoin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSourcesOfTokensDoNotShowThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(path, []byte("s3cret"), 0o600))
	file := &fileToken{path: path}
	_, err := file.Token(t.Context())
	must(t, err)
	client := newClient(t, []string{"a:1"})
	for _, one := range []any{fixedToken("s3cret"), file, &exchangedToken{token: "s3cret"}, client, client.TokenSource(), APIKey("s3cret"), Password("a@b.example", "s3cret"), TLS{Key: []byte("s3cret")}, &TLS{Key: []byte("s3cret")}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, one); strings.Contains(text, "s3cret") || strings.Contains(text, "115 51 99") {
				t.Errorf("%s of %T shows the token", verb, one)
			}
		}
	}
}
