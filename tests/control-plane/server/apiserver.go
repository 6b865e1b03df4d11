package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"strings"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// runAPIServer runs kube-apiserver with its own flags until it is terminated, and returns its exit code.
func runAPIServer(arguments []string) int {
	if err := createSigningKey(arguments); err != nil {
		fail(err)
	}
	// The command reads its arguments from the process.
	os.Args = arguments
	return cli.Run(app.NewAPIServerCommand())
}

// createSigningKey writes the key that signs tokens of service accounts, if the file that the flags name is not there yet.
// kube-apiserver creates its certificate by itself, but not this key, and a key in the repository would alarm every scanner.
func createSigningKey(arguments []string) error {
	const flag = "--service-account-signing-key-file="
	for _, argument := range arguments {
		path, found := strings.CutPrefix(argument, flag)
		if !found {
			continue
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		bytes, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return err
		}
		return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600)
	}
	return nil
}
