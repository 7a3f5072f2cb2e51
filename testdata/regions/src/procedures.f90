module work
  use iso_c_binding
  implicit none
  interface
    function page() bind(c, name="page_") result(a)
      import c_intptr_t
      integer(c_intptr_t) :: a
    end function
  end interface
contains
  subroutine region(n)
    integer, intent(in) :: n
    integer :: i
    integer(c_intptr_t) :: a
    integer(1), pointer :: p
    !$omp parallel private(i, a, p)
    !$omp single
    do i = 1, n
      a = page()
      call c_f_pointer(transfer(a, c_null_ptr), p)
      p = 1_1
    end do
    !$omp end single
    !$omp end parallel
  end subroutine
  subroutine loop(n)
    integer, intent(in) :: n
    integer :: i
    integer(c_intptr_t) :: a
    integer(1), pointer :: p
    !$omp parallel do private(a, p)
    do i = 1, n
      a = page()
      call c_f_pointer(transfer(a, c_null_ptr), p)
      p = 1_1
    end do
  end subroutine
  subroutine one()
    call region(50)
    call loop(51)
  end subroutine
  subroutine two()
    call region(52)
    call loop(53)
    call inside(54)
    call inside(55)
  contains
    subroutine inside(n)
      integer, intent(in) :: n
      integer :: i
      integer(c_intptr_t) :: a
      integer(1), pointer :: p
      !$omp parallel do private(a, p)
      do i = 1, n
        a = page()
        call c_f_pointer(transfer(a, c_null_ptr), p)
        p = 1_1
      end do
    end subroutine
  end subroutine
end module
program main
  use work
  call one()
  call two()
end program
