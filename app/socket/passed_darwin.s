#include "textflag.h"

TEXT libc_launch_activate_socket_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_launch_activate_socket(SB)
GLOBL	·launchActivateSocketTrampoline(SB), RODATA, $8
DATA	·launchActivateSocketTrampoline(SB)/8, $libc_launch_activate_socket_trampoline<>(SB)
