package quoin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc/credentials"
)

// TLS says how connections are encrypted: certificates and key, all in PEM, as content or as paths of files. Its zero
// value trusts the certificate authorities of the system. Files are read again for each connection, so that replaced ones
// count; while they cannot be used, the ones before do.
type TLS struct {
	// CA has the certificate authorities to trust instead of those of the system.
	CA []byte
	// CAFile is the file of these, instead of CA.
	CAFile string
	// Certificate is that of the client; it needs its key.
	Certificate []byte
	// CertificateFile is the file of it, instead of Certificate.
	CertificateFile string
	// Key is the private key of the certificate.
	Key []byte
	// KeyFile is the file of it, instead of Key.
	KeyFile string
}

// currentTLS are the credentials of connections: each gets the certificates and the key as they are then.
type currentTLS struct {
	options TLS

	mu   sync.Mutex
	read [3][]byte
	last *tls.Config
}

// newTLS checks the options before connecting: a connection would only fail, without the reason.
func newTLS(options TLS) (*currentTLS, error) {
	hasCertificate := options.Certificate != nil || options.CertificateFile != ""
	hasKey := options.Key != nil || options.KeyFile != ""
	switch {
	case options.CA != nil && options.CAFile != "":
		return nil, badField("tls", "must have CA or CAFile, not both")
	case options.Certificate != nil && options.CertificateFile != "":
		return nil, badField("tls", "must have Certificate or CertificateFile, not both")
	case options.Key != nil && options.KeyFile != "":
		return nil, badField("tls", "must have Key or KeyFile, not both")
	case hasCertificate != hasKey:
		return nil, badField("tls", "needs a certificate and its key together")
	}
	current := &currentTLS{options: options}
	if err := current.load(); err != nil {
		return nil, badField("tls", "cannot be used: "+err.Error())
	}
	return current, nil
}

// load reads the files, and keeps what was usable last.
func (t *currentTLS) load() error {
	o := t.options
	var contents [3][]byte
	for at, source := range []struct {
		content []byte
		file    string
	}{{o.CA, o.CAFile}, {o.Certificate, o.CertificateFile}, {o.Key, o.KeyFile}} {
		contents[at] = source.content
		if source.file != "" {
			content, err := os.ReadFile(source.file)
			if err != nil {
				return err
			}
			contents[at] = content
		}
	}
	same := func(at int) bool { return bytes.Equal(contents[at], t.read[at]) }
	if t.last != nil && same(0) && same(1) && same(2) {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if contents[0] != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(contents[0]) {
			return errors.New("the CA has no certificate in PEM")
		}
	}
	if contents[1] != nil {
		pair, err := tls.X509KeyPair(contents[1], contents[2])
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	t.read, t.last = contents, config
	return nil
}

func (t *currentTLS) current() credentials.TransportCredentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	// In the middle of a replacement, a file may be missing, or not fit to another one yet.
	_ = t.load()
	return credentials.NewTLS(t.last)
}

// ClientHandshake implements credentials.TransportCredentials.
func (t *currentTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return t.current().ClientHandshake(ctx, authority, conn)
}

// ServerHandshake implements credentials.TransportCredentials.
func (t *currentTLS) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("quoin: a client has no handshake of a server")
}

// Info implements credentials.TransportCredentials.
func (t *currentTLS) Info() credentials.ProtocolInfo { return t.current().Info() }

// Clone implements credentials.TransportCredentials.
func (t *currentTLS) Clone() credentials.TransportCredentials { return t }

// OverrideServerName implements credentials.TransportCredentials.
func (t *currentTLS) OverrideServerName(string) error { return errors.New("quoin: not supported") }
