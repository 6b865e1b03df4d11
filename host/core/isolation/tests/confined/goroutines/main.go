// A library in Go that uses what its runtime needs of the system: threads, timers, the heap, signals to its own threads, and the handler
// of a segmentation fault. The tests of divvy-sandbox open it in a confined process.
package main

import "C"

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bits of the result of Run.
const (
	sumIsWrong = 1 << iota
	timerIsEarly
	heapIsLost
	faultIsNotRecovered
	fileIsRead
	programIsStarted
	socketIsOpened
)

// Run returns 0 if everything is as it should be in a confined process.
//
//export Run
func Run() C.int {
	result := 0
	note := func(isWrong bool, bit int) {
		if isWrong {
			result |= bit
		}
	}
	note(sum() != 4950, sumIsWrong)
	started := time.Now()
	<-time.After(5 * time.Millisecond)
	note(time.Since(started) < 5*time.Millisecond, timerIsEarly)
	preempt()
	note(!heap(), heapIsLost)
	note(!recovers(), faultIsNotRecovered)
	_, err := os.ReadFile("/etc/passwd")
	note(!errors.Is(err, syscall.EACCES), fileIsRead)
	_, err = syscall.ForkExec("/bin/true", nil, &syscall.ProcAttr{})
	note(!errors.Is(err, syscall.EPERM), programIsStarted)
	_, err = net.Listen("tcp", "127.0.0.1:0")
	note(!errors.Is(err, syscall.EPERM), socketIsOpened)
	return C.int(result)
}

// Exhaust allocates until the process ends.
//
//export Exhaust
func Exhaust() {
	var kept [][]byte
	for {
		block := make([]byte, 1<<20)
		for index := 0; index < len(block); index += 4096 {
			block[index] = 1
		}
		kept = append(kept, block)
	}
}

func sum() int {
	numbers := make(chan int)
	var group sync.WaitGroup
	for number := range 100 {
		group.Go(func() { numbers <- number })
	}
	go func() {
		group.Wait()
		close(numbers)
	}()
	total := 0
	for number := range numbers {
		total += number
	}
	return total
}

// preempt collects garbage while other goroutines run loops without a call: each thread must be stopped by a signal.
func preempt() {
	var stop atomic.Bool
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	time.Sleep(time.Millisecond)
	runtime.GC()
	stop.Store(true)
}

func heap() bool {
	blocks := make([][]byte, 32)
	for index := range blocks {
		blocks[index] = make([]byte, 1<<20)
		blocks[index][index] = 1
	}
	runtime.GC()
	for index := range blocks {
		if blocks[index][index] != 1 {
			return false
		}
	}
	return true
}

func recovers() (recovered bool) {
	defer func() { recovered = recover() != nil }()
	var nowhere *int
	return *nowhere == 1
}

func main() {}
