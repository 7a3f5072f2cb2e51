# A program for TestStep: instructions that write general registers in every way.
# Those that not every processor or kernel allows come last.
.globl _start
.data
buf: .fill 4096,1,7
.text
_start:
	mov $3, %r15
1:
	lea buf(%rip), %rbx
	lea 64(%rbx), %rsi
	lea 256(%rbx), %rdi
	mov $3, %eax
	xlat
	mov $0x1234567890abcdef, %rdx
	mulx %rdx, %rcx, %r8
	adc %rax, %r10
	sbb 8(%rbx), %r10
	bextr %rcx, %rdx, %r11
	pext (%rbx), %rcx, %r11
	pdep %rcx, %rdx, %r11
	andn %rcx, %rdx, %r12
	blsr %rdx, %r13
	blsi (%rbx), %r13
	blsmsk %ecx, %r13d
	bzhi %rcx, %rdx, %r14
	shlx %rcx, %rdx, %rax
	sarx %ecx, (%rbx), %eax
	rorx $7, %rdx, %rax
	tzcnt %rdx, %rax
	lzcnt (%rbx), %eax
	popcnt %dx, %ax
	bsf %rdx, %rax
	bsr %edx, %ecx
	crc32b (%rbx), %eax
	crc32q %rdx, %rax
	movbe (%rbx), %rax
	movbe %ax, 2(%rbx)
	bswap %rdx
	bswap %r12d
	xor %eax,%eax
	cmpxchg %rcx, (%rbx)
	cmpxchg %cl, %dl
	lock cmpxchg16b 48-64(%rsi)
	lea buf+16(%rip), %rsi
	lock cmpxchg16b (%rsi)
	cmpxchg8b 8(%rbx)
	xadd %rcx, (%rbx)
	xadd %ecx, %edx
	xchg %rcx, (%rbx)
	xchg %cl, %ch
	xchg %ax, %r9w
	mov $0, %eax
	xor %ecx,%ecx
	cpuid
	rdtsc
	rdtscp
	xor %ecx,%ecx
	xgetbv
	lahf
	sahf
	cwd
	cdq
	cqo
	cbw
	cwde
	cdqe
	lea buf(%rip), %rbx
	lea 64(%rbx), %rsi
	lea 256(%rbx), %rdi
	lodsb
	lodsw
	lodsl
	lodsq
	stosb
	stosw
	stosl
	stosq
	scasb
	scasq
	cmpsb
	cmpsl
	movsb
	movsq
	mov $5, %ecx
	rep movsb
	mov $5, %ecx
	rep stosq
	mov $5, %ecx
	repe cmpsb
	mov $5, %ecx
	repne scasb
	std
	stosb
	movsw
	cld
	enter $32, $0
	leave
	push $5
	push $0x12345678
	pop %rcx
	pop %rcx
	push %ax
	pop %r8w
	push (%rbx)
	pop 8(%rbx)
	push 8(%rsp)
	pop 8(%rsp)
	pushf
	popf
	push %rsp
	pop %rcx
	push %rcx
	lea (%rsp), %rax
	pop %rcx
	mov $2, %ecx
2: loop 2b
	mov $2, %ecx
3: loope 3b
	jrcxz 4f
4:
	movq (%rbx), %xmm0
	movsd 8(%rbx), %xmm1
	cvttsd2si %xmm0, %rax
	cvtsd2si (%rbx), %eax
	cvttss2si (%rbx), %r8
	cvtss2si %xmm1, %ecx
	movmskpd %xmm0, %eax
	movmskps %xmm0, %r9d
	pmovmskb %xmm1, %ecx
	vpmovmskb %ymm1, %ecx
	pextrb $3, %xmm0, %eax
	pextrb $3, %xmm0, 5(%rbx)
	pextrw $3, %xmm0, %eax
	pextrd $1, %xmm0, %r8d
	pextrq $1, %xmm0, %rax
	vpextrq $1, %xmm0, %rcx
	extractps $1, %xmm0, %eax
	extractps $1, %xmm0, 8(%rbx)
	movd %xmm0, %eax
	movq %xmm0, %rax
	movd %mm0, %eax
	movq %mm1, %r8
	pextrw $1, %mm0, %eax
	pmovmskb %mm0, %eax
	emms
	pcmpistri $0, (%rbx), %xmm0
	mov $4, %eax
	mov $4, %edx
	pcmpestri $0, %xmm1, %xmm0
	pcmpestrm $0, %xmm1, %xmm0
	ptest %xmm0, %xmm1
	fld1
	fnstsw %ax
	fnstsw (%rbx)
	fstpl (%rbx)
	fildll (%rbx)
	fistpl (%rbx)
	fnstcw (%rbx)
	fldcw (%rbx)
	sete %al
	setne (%rbx)
	setg %r9b
	bt $3, %rax
	bts %rcx, %rax
	btrl $3, (%rbx)
	btc %eax, %edx
	imul $7, (%rbx), %rax
	imul $7, %rcx, %rax
	imul $-300, %ecx, %eax
	imul (%rbx), %rax
	imul %rcx
	mul %ecx
	mulb (%rbx)
	xor %edx,%edx
	mov $17, %ecx
	div %rcx
	mov $100, %ax
	mov $7, %cl
	div %cl
	shld $3, %rax, %rcx
	shrd %cl, %rax, %rdx
	rol $3, %rax
	rcr $1, %rcx
	shl $4, %eax
	shl %ecx
	shl $3, %ax
	shl $1, %cl
	shl %cl, %rax
	shlq $2, (%rbx)
	sar $4, %r9
	not %rax
	neg %eax
	negq (%rbx)
	movsbw (%rbx), %ax
	movsbl %ah, %eax
	movzbw %cl, %dx
	movswl %cx, %eax
	movslq %ecx, %rax
	movslq (%rbx), %rax
	.byte 0x63, 0xc1
	.byte 0x66, 0x63, 0xc1
	mov %ah, %ch
	mov %ch, (%rbx)
	mov (%rbx), %dh
	mov $5, %dh
	add $3, %ah
	inc %bh
	dec %ah
	lea buf(%rip), %rbx
	add %ah, %al
	add $0x12, %ax
	sub %cx, %cx
	sub $0x70, %cl
	xor %ch, %ch
	xor %r9w, %r9w
	add (%rbx), %rax
	add (%rbx), %al
	add (%rbx), %cx
	add %rax, (%rbx)
	cmove (%rbx), %eax
	cmovne %ecx, %eax
	cmovg (%rbx), %r9
	cmovl %r9, %rax
	lea (%ebx,%ecx), %rax
	lea 5(%rax,%rcx,8), %eax
	lea 5(%rax,%rcx,8), %ax
	lea (,%r9,4), %r10
	lea 0x1000, %rax
	mov buf, %eax
	movabs buf, %rax
	movabs %al, buf
	movabs buf, %al
	mov %ds, %eax
	mov %fs, (%rbx)
	lsl %ecx, %eax
	lar %ecx, %eax
	pause
	nopw 8(%rax)
	prefetcht0 (%rbx)
	clflush (%rbx)
	mfence
	stmxcsr (%rbx)
	ldmxcsr (%rbx)
	movnti %rax, (%rbx)
	call f
	call *g(%rip)
	mov $f, %eax
	call *%rax
	push $5f
	ret
5:
	cmp $1, %r15
	jne 6f
	adcx %rcx, %r9
	adox (%rbx), %r9
	rdpid %rax
	smsw %eax
	str %eax
	sldt (%rbx)
	rdrand %rax
	rdseed %ecx
6:
	dec %r15
	jnz 1b
	mov $60, %eax
	xor %edi,%edi
	syscall
f: ret
h: ret $0
.data
g: .quad h
