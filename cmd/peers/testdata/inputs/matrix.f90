module grid
  implicit none
contains
  recursive function binomial(n, k) result(r)
    integer, intent(in) :: n, k
    integer :: r
    if (k == 0 .or. k == n) then
      r = 1
    else
      r = binomial(n - 1, k - 1) + binomial(n - 1, k)
    end if
  end function
  subroutine smooth(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, n)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        a(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1)) + sin(a(i, j))
      end do
    end do
  end subroutine
end module

program matrix
  use grid
  real(8), allocatable :: a(:, :), b(:, :)
  character(len=40) :: line
  integer :: i, n
  n = 400
  allocate (a(n, n), b(n, n))
  call random_number(a)
  do i = 1, 30
    call smooth(a, n)
  end do
  b = matmul(a, transpose(a))
  do i = 1, 100000
    write (line, '(i8, f12.4)') i, b(1 + mod(i, n), 3)
  end do
  print *, sum(b), binomial(24, 9), line
end program
