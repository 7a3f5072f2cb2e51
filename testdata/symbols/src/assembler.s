# Hand-written functions, most of which do not say that they are functions. Each
# of the functions named spin_N spends N units of time.
	.macro spin units
	mov $\units * 1000000, %rcx
9:	dec %rcx
	jnz 9b
	.endm

	.text
	.type opening, @function
opening:				# a type, but no size: ends at the next symbol
	ret

	.globl spin_2			# neither type nor size
spin_2:
	spin 2
	ret

spin_3:					# the same, not exported
	mov $3000000, %rcx
loop_in_3:				# fallen into: a label of spin_3's
	dec %rcx
	jnz loop_in_3
	jmp 1f
back_in_3:				# jumped over, and back to
	ret
1:	mov $1, %eax
	jmp back_in_3

	.globl spin_4
	.type spin_4, @function
spin_4:
	spin 1
inside_4:				# covered by a size
	spin 3
	ret
	.size spin_4, . - spin_4

	.globl spin_5			# a size, but no type
spin_5:
	spin 5
	ret
	.size spin_5, . - spin_5

"$d.7":	.quad 7				# constants between functions
"$x.8":
.Lkept:					# the assembler is told to keep it
	.globl spin_6
	.type spin_6, @function
spin_6:					# a type, but no size; nasm's labels
	mov $6000000, %rcx
	ret_to = . - spin_6
spin_6.loop:
	dec %rcx
	jnz spin_6.loop
	ret
	.globl start_of_frames
start_of_frames:			# what follows has no symbol, but call frame information
	ret
	.cfi_startproc
	spin 1
	ret
	.cfi_endproc

	.globl spin_7
spin_7:					# what follows has neither
	mov $3500000, %rcx
	jmp 2f
1:	dec %rcx
2:	sub $1, %rcx
	jg 1b
	mov $5250000, %rcx
3:	dec %rcx
	jnz 3b
	ret
	.p2align 4
	spin 1
	ret

	.globl _start
_start:
	xor %ebp, %ebp
	push %rbp
	mov %rsp, %rbp
	mov $60, %ebx
.Lagain:
	call spin_2
	call spin_3
	call spin_4
	call spin_5
	call spin_6
	call spin_7
	call static_8
	dec %ebx
	jnz .Lagain
	mov $60, %eax
	xor %edi, %edi
	syscall
static_8:				# behind a system call that does not return
	spin 8
	ret

	.section .last, "ax"
	.globl spin_9
spin_9:	ret
	.section .note.GNU-stack, "", @progbits
