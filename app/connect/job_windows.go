package main

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// newJob makes a job that ends all its processes with us, however we end: ours
// is the only handle.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// associatedPort is JOBOBJECT_ASSOCIATE_COMPLETION_PORT.
type associatedPort struct {
	key  uintptr
	port windows.Handle
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	faults, processes, active, terminated                  uint32
}

// inJob is how many processes live in a job.
func inJob(job windows.Handle) (uint32, error) {
	var a accounting
	err := windows.QueryInformationJobObject(job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return a.active, err
}

// lookMillis is how long a message of the job is waited for: Windows does not
// promise that each arrives.
const lookMillis = 10_000

// waitEmpty waits until nothing lives in a job.
func waitEmpty(job windows.Handle) error {
	port, err := windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(port)
	a := associatedPort{port: port}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectAssociateCompletionPortInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)))
	if err != nil {
		return err
	}
	for {
		active, err := inJob(job)
		if err != nil || active == 0 {
			return err
		}
		var message uint32
		var key uintptr
		var about *windows.Overlapped
		err = windows.GetQueuedCompletionStatus(port, &message, &key, &about, lookMillis)
		if err != nil && err != windows.WAIT_TIMEOUT {
			return err
		}
	}
}
