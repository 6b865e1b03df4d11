package main

import (
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// quotaBytes is the space that etcd may take. Its default of 2 GiB is soon full when a test writes for an hour.
const quotaBytes = 6 << 30

// runEtcd runs one etcd without authentication on the loopback interface until it is terminated.
func runEtcd(arguments []string) {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	data := flags.String("data-dir", "", "folder of the data; created if absent")
	client := flags.String("client-url", "", "URL to serve clients at, e.g. http://127.0.0.1:2379")
	peer := flags.String("peer-url", "", "URL to serve peers at; there are none, but etcd insists")
	_ = flags.Parse(arguments)

	configuration := embed.NewConfig()
	configuration.Name = "control-plane"
	configuration.Dir = *data
	configuration.LogLevel = "warn"
	configuration.QuotaBackendBytes = quotaBytes
	// The API server compacts by itself every five minutes; this covers tests in which it is down.
	configuration.AutoCompactionMode = embed.CompactorModePeriodic
	configuration.AutoCompactionRetention = "5m"
	// Without a limit it warns about every request.
	configuration.WarningUnaryRequestDuration = time.Second
	// The data is thrown away with the folder. What a killed process wrote survives in the page cache, so that killing etcd
	// is still a fair test; only a power cut is not.
	configuration.UnsafeNoFsync = true

	clients, err := urls(*client)
	if err != nil {
		fail(err)
	}
	peers, err := urls(*peer)
	if err != nil {
		fail(err)
	}
	configuration.ListenClientUrls, configuration.AdvertiseClientUrls = clients, clients
	configuration.ListenPeerUrls, configuration.AdvertisePeerUrls = peers, peers
	configuration.InitialCluster = configuration.InitialClusterFromName(configuration.Name)

	server, err := embed.StartEtcd(configuration)
	if err != nil {
		fail(err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		fail("etcd was not ready after a minute")
	}

	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-terminated:
		server.Close()
	case err := <-server.Err():
		fail(err)
	}
}

func urls(text string) ([]url.URL, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	return []url.URL{*parsed}, nil
}
