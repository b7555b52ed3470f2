package quoin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"

	"google.golang.org/grpc/credentials"
)

// TLS says how connections are encrypted: certificates and key, all in PEM, as content or as paths of files. Its zero
// value trusts the certificate authorities of the system. Files are read again for each connection, so that replaced ones
// count; while they cannot be used, the ones before do.
type TLS struct {
	// CA has the certificate authorities to trust instead of those of the system.
	CA     []byte
	CAFile string
	// Certificate is that of the client; it needs its key.
	Certificate     []byte
	CertificateFile string
	Key             []byte
	KeyFile         string
}

// Format shows no key, whatever the verb.
func (TLS) Format(to fmt.State, _ rune) { io.WriteString(to, "[TLS options]") }

// currentTLS are the credentials of connections: each gets the certificates and the key as they are then.
type currentTLS struct {
	credentials.TransportCredentials // those that were usable last
	options                          TLS

	mu   sync.Mutex
	read [][]byte
}

// newTLS checks the options before connecting: a connection would only fail, without the reason.
func newTLS(options TLS) (*currentTLS, error) {
	current := &currentTLS{options: options}
	if err := current.load(); err != nil {
		return nil, badField("tls", "cannot be used: "+err.Error())
	}
	return current, nil
}

// load makes the credentials again, unless nothing has changed.
func (t *currentTLS) load() error {
	var contents [][]byte
	for _, source := range []struct {
		content []byte
		file    string
	}{{t.options.CA, t.options.CAFile}, {t.options.Certificate, t.options.CertificateFile}, {t.options.Key, t.options.KeyFile}} {
		content := source.content
		if source.file != "" {
			var err error
			if content, err = os.ReadFile(source.file); err != nil {
				return err
			} else if source.content != nil {
				return errors.New(source.file + " is given besides its content")
			}
		}
		contents = append(contents, content)
	}
	if t.read != nil && slices.EqualFunc(contents, t.read, bytes.Equal) {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if contents[0] != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(contents[0]) {
			return errors.New("the CA has no certificate in PEM")
		}
	}
	if contents[1] != nil || contents[2] != nil {
		pair, err := tls.X509KeyPair(contents[1], contents[2])
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	t.read, t.TransportCredentials = contents, credentials.NewTLS(config)
	return nil
}

func (t *currentTLS) current() credentials.TransportCredentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	// In the middle of a replacement, a file may be missing, or not fit to another one yet.
	_ = t.load()
	return t.TransportCredentials
}

// ClientHandshake implements credentials.TransportCredentials.
func (t *currentTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return t.current().ClientHandshake(ctx, authority, conn)
}

// Info implements credentials.TransportCredentials.
func (t *currentTLS) Info() credentials.ProtocolInfo { return t.current().Info() }

// Clone implements credentials.TransportCredentials.
func (t *currentTLS) Clone() credentials.TransportCredentials { return t }
