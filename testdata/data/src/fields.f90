! Fortran: variables of modules and COMMON blocks, derived types, allocatable,
! pointer and dummy arrays of all kinds, components that are allocatable.
module told
  use iso_c_binding
  implicit none
  interface
    subroutine truth(address, size, descriptor) bind(c)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      character(c_char) :: descriptor(*)
    end subroutine
    subroutine truth_each(address, size, descriptor, n, stride) bind(c)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: size, n, stride
      character(c_char) :: descriptor(*)
    end subroutine
    subroutine tell() bind(c)
    end subroutine
    subroutine inner(address, size) bind(c)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
    end subroutine
    function slot(size, align) bind(c)
      import
      integer(c_size_t), value :: size, align
      type(c_ptr) :: slot
    end function
    subroutine forget() bind(c)
    end subroutine
  end interface
  character, parameter :: z = c_null_char
end module

module state
  implicit none
  type vector
    real(8) :: x, y, z
  end type
  type body
    integer :: id
    real(4) :: mass
    type(vector) :: at, speed
    character(len=8) :: name
    logical :: fixed
    type(body), pointer :: next
    real(8), allocatable :: track(:)
    integer(2) :: hits(6)
  end type
  real(8), target :: field(600, 20), flux(20, 600)
  integer, target :: marks(30000)
  type(body), target :: bodies(300)
  complex(8), target :: waves(3000)
  real(8), allocatable, target :: heap(:), grid(:, :)
end module

subroutine fill(n)
  use state
  implicit none
  integer, intent(in) :: n
  integer :: i, k
  do k = 1, 20
    do i = 1, 600
      field(i, k) = i * n + k
    end do
  end do
  do i = 1, 600
    do k = 1, 20
      flux(k, i) = field(i, 21 - k)
    end do
  end do
  marks(::3) = n
  waves = (1.0d0, 2.0d0)
end subroutine

real(8) function sums()
  use state
  implicit none
  sums = sum(field) + sum(flux(3, :)) + sum(marks(1:30000:1000)) + maxval(abs(waves))
end function

subroutine in_common(n)
  implicit none
  integer, intent(in) :: n
  real(8) :: first(1500), scalar
  integer :: counts(3000), i
  common /block/ first, scalar, counts
  do i = 1, 1500, 100
    first(i) = n
  end do
  scalar = n + first(7)
  counts(n:3000:500) = i
end subroutine

subroutine move_bodies(dt)
  use state
  implicit none
  real(8), intent(in) :: dt
  integer :: i
  do i = 1, size(bodies)
    bodies(i)%at%x = bodies(i)%at%x + dt * bodies(i)%speed%x
    bodies(i)%hits(1 + mod(i, 6)) = 1_2
    bodies(i)%mass = 2
  end do
  where (bodies%id > 3)
    bodies%fixed = .true.
  end where
end subroutine

! Assumed shape, explicit shape, assumed size.
subroutine shaped(a, b, c, n)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: b(n), c(*)
  interface
    subroutine assumed(a)
      real(8), intent(inout) :: a(:, :)
    end subroutine
  end interface
  real(8), intent(inout) :: a(100, *)
  integer :: i
  call assumed(a(:, 1:200))
  do i = 1, n
    b(i) = b(i) + 2
  end do
  do i = n, 1, -1
    c(i) = c(i) * 2
  end do
end subroutine
subroutine assumed(a)
  implicit none
  real(8), intent(inout) :: a(:, :)
  integer :: i, k
  do k = 1, size(a, 2)
    do i = 1, size(a, 1)
      a(i, k) = i - k
    end do
  end do
end subroutine

! A list of bodies and what they allocate.
real(8) function along(first)
  use state
  implicit none
  type(body), intent(in), target :: first
  type(body), pointer :: b
  along = 0
  b => first
  do while (associated(b))
    along = along + b%mass + b%speed%z
    b => b%next
  end do
end function
subroutine track(b, n)
  use state
  implicit none
  type(body), intent(inout) :: b
  integer, intent(in) :: n
  b%track(n) = b%at%y
  b%hits(2) = int(n, 2)
  b%id = b%id + n
end subroutine

program fields
  use told
  use state
  implicit none
  interface
    real(8) function along(first)
      import
      type(body), intent(in), target :: first
    end function
    real(8) function sums()
    end function
    subroutine track(b, n)
      import
      type(body), intent(inout) :: b
      integer, intent(in) :: n
    end subroutine
  end interface
  type bodyp
    type(body), pointer :: p
  end type
  integer, parameter :: many = 25
  type(bodyp) :: list(many)
  real(8), target :: first(1500), scalar
  integer, target :: counts(3000)
  common /block/ first, scalar, counts
  real(8) :: total
  integer :: i

  call truth(c_loc(field), c_sizeof(field), "{array[*:real(kind=8) *field}"//z)
  call truth(c_loc(flux), c_sizeof(flux), "{array[*:real(kind=8) *flux}"//z)
  call truth(c_loc(marks), c_sizeof(marks), "{array[30000]:integer(kind=4) *marks}"//z)
  call truth(c_loc(waves), c_sizeof(waves), "{array[3000]:complex(kind=8) *waves}"//z)
  call truth(c_loc(first), c_sizeof(first), "{array[1500]:real(kind=8) *first}"//z)
  call truth(c_loc(scalar), 8_8, "{real(kind=8) *scalar}"//z)
  call truth(c_loc(counts), c_sizeof(counts), "{array[3000]:integer(kind=4) *counts}"//z)
  call tell_bodies(bodies(1), size(bodies))
  call fill(command_argument_count() + 1)
  call inner(c_loc(field), c_sizeof(field))
  call inner(c_loc(marks), c_sizeof(marks))
  call inner(c_loc(waves), c_sizeof(waves))
  total = sums()
  call in_common(command_argument_count() + 1)
  call move_bodies(0.5d0)

  allocate (heap(60000), grid(100, 200))
  call truth(c_loc(heap), 480000_8, "{array[*:real(kind=8) *} | {real(kind=8) -}"//z)
  call truth(c_loc(grid), 160000_8, "{array[*:real(kind=8) *} | {real(kind=8) -}"//z)
  heap(::700) = 3
  call inner(c_loc(heap), 480000_8)
  call shaped(grid, heap, heap(30001), 20000)
  call inner(c_loc(grid), 160000_8)
  do i = 1, 200
    grid(1 + mod(i, 90), i) = total
  end do

  do i = 1, many
    call new_body(list(i)%p)
    if (i > 1) list(i)%p%next => list(i - 1)%p
  end do
  call forget()
  total = along(list(many)%p)
  do i = 1, many
    call forget()
    call track(list(i)%p, i)
  end do
  call tell()
  if (total == 1) print *, total
contains
  subroutine new_body(b)
    type(body), pointer, intent(out) :: b
    call c_f_pointer(slot(storage_size(b) / 8_8, 8_8), b)
    nullify (b%next)
    call tell_bodies(b, 1)
    allocate (b%track(1000))
    call truth(c_loc(b%track), 8000_8, "{array[*:real(kind=8) *} | {real(kind=8) -}"//z)
  end subroutine
  subroutine tell_bodies(b, n)
    integer, intent(in) :: n
    type(body), target :: b
    integer(c_size_t) :: apart
    apart = storage_size(b) / 8
    call truth_each(c_loc(b%id), 4_8, "{structure:body}.{integer(kind=4) id}"//z, int(n, 8), apart)
    call truth_each(c_loc(b%mass), 4_8, "{structure:body}.{real(kind=4) mass}"//z, int(n, 8), apart)
    call vectors(c_loc(b%at%x), c_loc(b%at%y), c_loc(b%at%z), n, apart)
    call vectors(c_loc(b%speed%x), c_loc(b%speed%y), c_loc(b%speed%z), n, apart)
    call truth_each(c_loc(b%fixed), 4_8, "{structure:body}.{logical(kind=4) fixed}"//z, int(n, 8), apart)
    call truth_each(c_loc(b%hits), 12_8, "{structure:body}.{array[6]:integer(kind=2) hits}"//z, int(n, 8), apart)
    ! what points elsewhere has no address of its own in the language
    call truth_each(behind(c_loc(b%fixed), 8_8), 8_8, "{structure:body}.{pointer+structure:body next}"//z, int(n, 8), apart)
    call truth_each(behind(c_loc(b%fixed), 16_8), 64_8, "{structure:body}.{*array[*:real(kind=8) track}"//z, int(n, 8), apart)
  end subroutine
  type(c_ptr) function behind(p, by)
    type(c_ptr), intent(in) :: p
    integer(8), intent(in) :: by
    behind = transfer(transfer(p, 0_8) + by, c_null_ptr)
  end function
  subroutine vectors(x, y, z_, n, apart)
    type(c_ptr), intent(in) :: x, y, z_
    integer, intent(in) :: n
    integer(c_size_t), intent(in) :: apart
    call truth_each(x, 8_8, "{structure:body}.{structure:vector}.{real(kind=8) x}"//z, int(n, 8), apart)
    call truth_each(y, 8_8, "{structure:body}.{structure:vector}.{real(kind=8) y}"//z, int(n, 8), apart)
    call truth_each(z_, 8_8, "{structure:body}.{structure:vector}.{real(kind=8) z}"//z, int(n, 8), apart)
  end subroutine
end program
