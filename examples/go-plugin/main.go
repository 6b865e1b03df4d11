// The filter name-pattern, in Go. rule.go has the rule, exports.c the exports of the library, host.h the calls of the host.
//
// This file is the boundary: it reads calls, and catches panics, since a panic that leaves Go would end the scheduler.
package main

/*
#cgo CFLAGS: -std=c99 -Wall -Wextra -Werror -pedantic -fvisibility=hidden -I${SRCDIR}/../../framework/abi/include
#include "host.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// The reason under which the host counts clusters.
const rejection = "cluster(s) did not match the pattern of names"

// instance is a constructed plugin. The host's table of services lives as long as the process.
type instance struct {
	rule     *rule
	services *C.divvy_services
}

// A library needs a main function, which nothing calls.
func main() {}

//export goConstruct
func goConstruct(call *C.divvy_construct_call) (code C.uint32_t) {
	defer recovered(call.services, call.sink, &code)
	rule, err := newRule(column[byte](call.configuration.data, call.configuration.length))
	if err != nil {
		var wrong *configurationError
		path := ""
		if errors.As(err, &wrong) {
			path = wrong.key
		}
		return fail(call.services, call.sink, C.DIVVY_FAILURE_CONFIGURATION, err.Error(), path)
	}
	handle := cgo.NewHandle(&instance{rule: rule, services: call.services})
	// A handle is a number. The host keeps it in place of an address.
	*(*uintptr)(unsafe.Pointer(&call.instance)) = uintptr(handle)
	return 0
}

//export goDestroy
func goDestroy(handle C.uintptr_t) {
	cgo.Handle(handle).Delete()
}

//export goFilter
func goFilter(handle C.uintptr_t, call *C.divvy_filter_call) (code C.uint32_t) {
	self := cgo.Handle(handle).Value().(*instance)
	defer recovered(self.services, call.sink, &code)
	var (
		cycle       = call.cycle
		names       = snapshot[uint32](cycle, C.DIVVY_COLUMN_NAME)
		offsets     = snapshot[uint64](cycle, C.DIVVY_COLUMN_SYMBOL_OFFSETS)
		texts       = snapshot[byte](cycle, C.DIVVY_COLUMN_SYMBOL_TEXT)
		isExplained = cycle.flags&C.DIVVY_CYCLE_EXPLAIN != 0
	)
	for row, rejected := range column[uint32](call.codes.data, call.codes.length) {
		if rejected != 0 {
			continue
		}
		symbol := names[row]
		if self.rule.keeps(texts[offsets[symbol]:offsets[symbol+1]]) {
			continue
		}
		code := call.code
		if isExplained {
			if given := self.reason(call.sink, row); given != 0 {
				code = given
			}
		}
		column[uint32](call.codes.data, call.codes.length)[row] = uint32(code)
	}
	return 0
}

// reason passes the reason for rejecting the cluster in a row to the host, and returns its code.
func (i *instance) reason(sink unsafe.Pointer, row int) C.uint32_t {
	data := (*C.uint8_t)(unsafe.StringData(rejection))
	return C.host_reason(i.services, sink, C.uint32_t(row), data, C.uint64_t(len(rejection)))
}

// fail passes a failure to the host and returns its code.
func fail(services *C.divvy_services, sink unsafe.Pointer, code C.uint32_t, message, path string) C.uint32_t {
	return C.host_fail(services, sink, code,
		(*C.uint8_t)(unsafe.StringData(message)), C.uint64_t(len(message)),
		(*C.uint8_t)(unsafe.StringData(path)), C.uint64_t(len(path)))
}

// recovered turns a panic into a failure of the call.
func recovered(services *C.divvy_services, sink unsafe.Pointer, code *C.uint32_t) {
	if panicked := recover(); panicked != nil {
		*code = fail(services, sink, C.DIVVY_FAILURE_PANIC, fmt.Sprint(panicked), "")
	}
}

// column is a column of a call. It must not be kept beyond the call.
func column[T, D any](data *D, length C.uint64_t) []T {
	if data == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(data)), uint64(length))
}

// snapshot is a column of the snapshot; empty if there is none.
func snapshot[T any](cycle *C.divvy_cycle_view, number C.uint32_t) []T {
	var bytes C.uint64_t
	var element T
	data := C.divvy_column(cycle.snapshot, number, &bytes)
	if data == nil {
		return nil
	}
	return unsafe.Slice((*T)(data), uint64(bytes)/uint64(unsafe.Sizeof(element)))
}
