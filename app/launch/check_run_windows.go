package launch

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a program in a job, with what it has started.
type tree struct {
	job     windows.Handle
	process windows.Handle
}

var resume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// startTree starts the program suspended, so that nothing of it runs outside of
// the job.
func startTree(cmd *exec.Cmd, _ string) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("limiting a job: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	t := &tree{job: job}
	if err := t.take(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *tree) take(pid int) error {
	const access = windows.SYNCHRONIZE | windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	var err error
	if t.process, err = windows.OpenProcess(access, false, uint32(pid)); err != nil {
		return fmt.Errorf("opening the process: %w", err)
	}
	if err := windows.AssignProcessToJobObject(t.job, t.process); err != nil {
		return fmt.Errorf("putting the process into its job: %w", err)
	}
	if status, _, _ := resume.Call(uintptr(t.process)); status != 0 {
		return fmt.Errorf("letting the process run: %w", windows.NTStatus(status))
	}
	return nil
}

func (t *tree) await() error {
	_, err := windows.WaitForSingleObject(t.process, windows.INFINITE)
	return err
}

// kill ends the whole job, which nothing can leave.
func (t *tree) kill(bool) {
	_ = windows.TerminateJobObject(t.job, 1) // it has ended when this fails
}

func (t *tree) killRest() { t.kill(true) }

func (t *tree) close() {
	if t.process != 0 {
		_ = windows.CloseHandle(t.process)
	}
	_ = windows.CloseHandle(t.job)
}
