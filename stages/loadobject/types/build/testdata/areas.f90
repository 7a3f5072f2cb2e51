module areas
  implicit none
  type point_t
    real(8) :: x, y
    integer :: tag(3)
  end type
  type, extends(point_t) :: named_t
    character(len=10) :: name
    real, allocatable :: values(:)
    type(point_t), pointer :: to
  end type
  type(named_t) :: origin
  real(8), allocatable :: field(:, :)
  integer, target :: counts(-2:5, 3)
  logical :: ready
  complex(8) :: phase
contains
  subroutine fill(a, n, p, rest)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, *)
    type(point_t), intent(inout) :: p
    real(4), intent(in) :: rest(:)
    integer :: i
    integer, save :: calls = 0
    common /shared/ total, many
    real(8) :: total
    integer :: many(5)
    do i = 1, n
      a(i, 1) = p%x + rest(i)
      total = total + counts(i, 2)
    end do
    many(2) = n
    calls = calls + 1
    p%tag(2) = calls
  end subroutine
  subroutine other
    common /shared/ sum, first, others
    real(8) :: sum
    integer :: first, others(4)
    sum = first + others(3)
    field(2, 3) = sum
    origin%values(4) = real(sum)
  end subroutine
end module
