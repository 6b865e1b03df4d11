// Command control-plane is the part of a control plane that a scheduler talks to: etcd and kube-apiserver, as two subcommands
// of one program, so that a test can kill one and keep the other. Everything else that a control plane has is left out; the
// tests play it.
//
//	control-plane [--while-stdin-open] etcd --data-dir DIR --client-url URL --peer-url URL
//	control-plane [--while-stdin-open] kube-apiserver FLAGS
//
// With --while-stdin-open the process ends when its standard input is closed. A test holds the other end of that pipe, so
// nothing keeps running when the test is killed.
package main

import (
	"fmt"
	"io"
	"os"
)

const usage = "usage: control-plane [--while-stdin-open] etcd|kube-apiserver FLAGS"

func main() {
	arguments := os.Args[1:]
	if len(arguments) > 0 && arguments[0] == "--while-stdin-open" {
		arguments = arguments[1:]
		go exitWithStandardInput()
	}
	if len(arguments) == 0 {
		fail(usage)
	}
	switch arguments[0] {
	case "etcd":
		runEtcd(arguments[1:])
	case "kube-apiserver":
		os.Exit(runAPIServer(arguments))
	default:
		fail(usage)
	}
}

// exitWithStandardInput ends the process, without any farewell, when standard input ends: a test that was killed has no use
// for a proper shutdown.
func exitWithStandardInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func fail(message any) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
