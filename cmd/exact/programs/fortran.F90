! Fortran: modules, contained procedures, types, entries, OpenMP regions.
#define IN(name) call truth_enter('c', name//c_null_char, __FILE__//c_null_char)
#define OUT call truth_leave()
#define TOUCH(n) do touched = 1, n; call c_f_pointer(truth_page(__LINE__), page); page = 1; end do
! Optimized, gfortran has the line before the region in its debug information.
#ifdef __OPTIMIZE__
#define REGION __LINE__
#else
#define REGION __LINE__ + 1
#endif
#define CALL(what) call truth_line(__LINE__); call what
module truth
   use iso_c_binding
   implicit none
   interface
      subroutine truth_begin(base) bind(c)
         import
         integer(c_long), value :: base
      end subroutine
      subroutine truth_end() bind(c)
      end subroutine
      subroutine truth_enter(kind, function, file) bind(c)
         import
         character(kind=c_char), value :: kind
         character(kind=c_char) :: function(*), file(*)
      end subroutine
      subroutine truth_line(line) bind(c)
         import
         integer(c_int), value :: line
      end subroutine
      subroutine truth_leave() bind(c)
      end subroutine
      function truth_page(line) bind(c)
         import
         integer(c_int), value :: line
         type(c_ptr) :: truth_page
      end function
      function truth_depth() bind(c)
         import
         integer(c_int) :: truth_depth
      end function
      subroutine truth_return(depth) bind(c)
         import
         integer(c_int), value :: depth
      end subroutine
   end interface
end module

module shapes
   use truth
   implicit none
   type :: shape
      integer :: n = 1
   contains
      procedure :: draw => draw_shape
   end type
   type, extends(shape) :: circle
   contains
      procedure :: draw => draw_circle
   end type
   interface area
      procedure area_integer, area_real
   end interface
contains
   subroutine draw_shape(self, n)
      class(shape), intent(in) :: self
      integer, intent(in) :: n
      integer :: touched
      integer(c_int8_t), pointer :: page
      IN("shapes::draw_shape")
      TOUCH(n)
      OUT
   end subroutine
   subroutine draw_circle(self, n)
      class(circle), intent(in) :: self
      integer, intent(in) :: n
      integer :: touched
      integer(c_int8_t), pointer :: page
      IN("shapes::draw_circle")
      TOUCH(1)
      CALL(edge(self%n + n))
      TOUCH(1)
      OUT
   contains
      subroutine edge(m)
         integer, intent(in) :: m
         IN("shapes::draw_circle::edge")
         TOUCH(m)
         OUT
      end subroutine
   end subroutine
   subroutine area_integer(n)
      integer, intent(in) :: n
      integer :: touched
      integer(c_int8_t), pointer :: page
      IN("shapes::area_integer")
      TOUCH(n)
      OUT
   end subroutine
   subroutine area_real(x)
      real, intent(in) :: x
      integer :: touched
      integer(c_int8_t), pointer :: page
      IN("shapes::area_real")
      TOUCH(int(x))
      OUT
   end subroutine
   recursive function factorial(n) result(r)
      integer, intent(in) :: n
      integer :: r, touched
      integer(c_int8_t), pointer :: page
      IN("shapes::factorial")
      TOUCH(1)
      r = 1
      if (n > 1) then
         call truth_line(__LINE__); r = n*factorial(n - 1)
      end if
      OUT
   end function
end module

module regions
   use truth
   implicit none
contains
   subroutine row(n)
      integer, intent(in) :: n
      integer :: touched
      integer(c_int8_t), pointer :: page
      IN("regions::row")
      TOUCH(n)
      OUT
   end subroutine
   subroutine region(threads)
      use omp_lib
      integer, intent(in) :: threads
      integer :: touched, depth
      integer(c_int8_t), pointer :: page
      IN("regions::region")
      call truth_line(REGION)
      !$omp parallel num_threads(threads) private(depth, touched, page)
      depth = truth_depth()
      if (omp_get_thread_num() == 0) call truth_enter('*', c_null_char, c_null_char)
      call truth_enter('b', "regions::region"//c_null_char, __FILE__//c_null_char)
      TOUCH(1)
      CALL(row(2))
      call truth_return(depth)
      !$omp end parallel
      TOUCH(1)
      OUT
   end subroutine
   subroutine loop(n, threads)
      use omp_lib
      integer, intent(in) :: n, threads
      integer :: i, depth
      IN("regions::loop")
      call truth_line(__LINE__ + 1)
      !$omp parallel do schedule(static, 1) num_threads(threads) private(depth)
      do i = 1, n
         depth = truth_depth()
         if (omp_get_thread_num() == 0) call truth_enter('*', c_null_char, c_null_char)
         call truth_enter('b', "regions::loop"//c_null_char, __FILE__//c_null_char)
         CALL(row(1))
         call truth_return(depth)
      end do
      !$omp end parallel do
      OUT
   end subroutine
end module

subroutine external(n)
   use truth
   implicit none
   integer, intent(in) :: n
   integer :: touched
   integer(c_int8_t), pointer :: page
   IN("external")
   TOUCH(n)
   OUT
end subroutine

subroutine master(n)
   use truth
   implicit none
   integer, intent(in) :: n
   integer :: touched
   integer(c_int8_t), pointer :: page
   external :: external
   IN("master")
   TOUCH(n)
   CALL(external(2))
   OUT
end subroutine

program main_program
   use truth
   use shapes
   use regions
   implicit none
   integer :: touched, r
   integer, volatile :: one = 1
   integer(c_int8_t), pointer :: page
   class(shape), allocatable :: s
   external :: external, master
   call truth_begin(int(z'20000000', c_long))
   call truth_enter('*', c_null_char, c_null_char)
   IN("main_program")
   allocate (shape :: s)
   CALL(s%draw(one))
   deallocate (s)
   allocate (circle :: s)
   CALL(s%draw(2*one))
   CALL(area(one))
   CALL(area(real(one + 1)))
   call truth_line(__LINE__); r = factorial(3*one)
   CALL(inner(one))
   CALL(external(one))
   CALL(master(one))
   CALL(region(3*one))
   CALL(loop(6*one, 3*one))
   TOUCH(r/6)
   OUT
   OUT
   call truth_end()
contains
   subroutine inner(n)
      integer, intent(in) :: n
      IN("main_program::inner")
      TOUCH(n + 1)
      CALL(deep(n))
      OUT
   end subroutine
   recursive subroutine deep(n)
      integer, intent(in) :: n
      IN("main_program::deep")
      TOUCH(1)
      if (n > 0) then
         CALL(deep(n - 1))
      end if
      OUT
   end subroutine
end program
