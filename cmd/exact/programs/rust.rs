// Rust: modules, generic functions, traits, closures, inlined functions, panics, threads.
#[macro_use]
mod truth;

use std::hint::black_box;
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};

mod shapes {
    pub trait Shape {
        fn draw(&self, n: i32);
        #[inline(never)]
        fn twice(&self, n: i32) {
            enter!('c', "prog::shapes::Shape::twice", "<{} as prog::shapes::Shape>::twice", Self);
            call!(self.draw(n));
            call!(self.draw(n + 1));
            out!();
        }
    }
    pub struct Circle;
    pub struct Square<T>(pub T);
    impl Shape for Circle {
        #[inline(never)]
        fn draw(&self, n: i32) {
            enter!('c', "<prog::shapes::Circle as prog::shapes::Shape>::draw");
            touch!(n);
            out!();
        }
    }
    impl<T> Shape for Square<T> {
        #[inline(never)]
        fn draw(&self, n: i32) {
            enter!('c', "<prog::shapes::Square<T> as prog::shapes::Shape>::draw", "<prog::shapes::Square<{}> as prog::shapes::Shape>::draw", T);
            touch!(n);
            call!(self.edge(n));
            out!();
        }
    }
    impl<T> Square<T> {
        #[inline(always)]
        fn edge(&self, n: i32) {
            enter!('i', "prog::shapes::Square<T>::edge", "<prog::shapes::Square<{}>>::edge", T);
            touch!(n);
            call!(corner(n));
            out!();
        }
        #[inline(never)]
        pub fn area(&self) {
            enter!('c', "prog::shapes::Square<T>::area", "<prog::shapes::Square<{}>>::area", T);
            touch!(1);
            out!();
        }
    }
    #[inline(always)]
    fn corner(n: i32) {
        enter!('i', "prog::shapes::corner");
        touch!(n + 1);
        out!();
    }
}
use shapes::Shape;

// Instances have one name; each is a function of its own.
#[inline(never)]
fn generic<T>(list: &[T]) {
    enter!('c', "prog::generic", "prog::generic::<{}>", T);
    touch!(std::mem::size_of::<T>() + list.len());
    out!();
}

#[inline(always)]
fn small<T: Copy>(value: T) -> T {
    enter!('i', "prog::small", "prog::small::<{}>", T);
    touch!(std::mem::size_of::<T>());
    out!();
    value
}

#[inline(never)]
fn instances() {
    enter!('c', "prog::instances");
    call!(generic(&[1u8]));
    call!(generic(&[1u16, 2]));
    call!(small(1u8));
    call!(small(1u32));
    out!();
}

// Optimized, the only call of a closure is inlined.
#[cfg(optimized)]
const CLOSURE: char = 'i';
#[cfg(not(optimized))]
const CLOSURE: char = 'c';

#[inline(never)]
fn applies<F: Fn(i32)>(n: i32, f: F) {
    if n == 0 {
        enter!('c', "prog::applies@0", "prog::applies::<prog::closures::{closure#0}>");
    } else {
        enter!('c', "prog::applies@1", "prog::applies::<prog::closures::{closure#1}>");
    }
    call!(f(1));
    out!();
}

#[inline(never)]
fn applies_boxed(f: &dyn Fn(i32)) {
    enter!('c', "prog::applies_boxed");
    call!(f(1));
    call!(f(2));
    out!();
}

#[inline(never)]
fn closures(n: i32) {
    enter!('c', "prog::closures");
    call!(applies(0, |k| {
        enter!(CLOSURE, "prog::closures::{{closure}}@0", "prog::closures::{closure#0}");
        touch!(n + k);
        out!();
    }));
    call!(applies(1, |k| {
        enter!(CLOSURE, "prog::closures::{{closure}}@1", "prog::closures::{closure#1}");
        touch!(n - k + 1);
        out!();
    }));
    call!(applies_boxed(black_box(&|k| {
        enter!('c', "prog::closures::{{closure}}@2", "prog::closures::{closure#2}");
        touch!(k);
        out!();
    })));
    out!();
}

#[inline(never)]
fn outer(n: i32) {
    #[inline(never)]
    fn nested(n: i32) {
        enter!('c', "prog::outer::nested");
        touch!(n);
        out!();
    }
    enter!('c', "prog::outer");
    call!(nested(n));
    touch!(1);
    out!();
}

struct Guard;
impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        enter!('c', "<prog::Guard as core::ops::drop::Drop>::drop");
        touch!(2);
        out!();
    }
}

#[inline(never)]
fn panics(n: i32) {
    enter!('c', "prog::panics");
    touch!(1);
    if n > 0 {
        panic_any(n);
    }
    out!();
}

#[inline(never)]
fn catches() {
    enter!('c', "prog::catches");
    let depth = unsafe { truth::truth_depth() };
    unsafe { truth::truth_line(line!() as i32 + 2) };
    enter!('*', "");
    let result = catch_unwind(AssertUnwindSafe(|| panics_below(black_box(1))));
    unsafe { truth::truth_return(depth) };
    touch!(result.is_err());
    out!();
}

#[inline(never)]
fn panics_below(n: i32) {
    enter!('c', "prog::panics_below");
    call!(panics(n));
    out!();
}

#[inline(never)]
fn drops() {
    enter!('c', "prog::drops");
    unsafe { truth::truth_line(line!() as i32 + 4) };
    {
        let guard = Guard;
        enter!('*', ""); // the compiler's glue
        drop(guard);
        out!();
    }
    out!();
}

fn factorial(n: u64) -> u64 {
    enter!('c', "prog::factorial");
    touch!(1);
    let result = if n <= 1 { 1 } else { n * call!(factorial(black_box(n - 1))) };
    out!();
    result
}

#[inline(never)]
fn iterates() {
    enter!('c', "prog::iterates");
    unsafe { truth::truth_line(line!() as i32 + 2) };
    enter!('*', "");
    black_box(vec![1, 2]).iter().for_each(visit);
    out!();
    out!();
}

#[inline(never)]
fn visit(n: &i32) {
    enter!('c', "prog::visit");
    touch!(*n);
    out!();
}

#[inline(never)]
fn threads() {
    enter!('c', "prog::threads");
    let list: Vec<_> = (1..3)
        .map(|i| {
            std::thread::Builder::new()
                .name(format!("worker {i}"))
                .spawn(move || {
                    enter!('*', "");
                    worker(i);
                    out!();
                })
                .unwrap()
        })
        .collect();
    for t in list {
        t.join().unwrap();
    }
    touch!(1);
    out!();
}

#[inline(never)]
fn worker(n: i32) {
    enter!('c', "prog::worker");
    touch!(n);
    call!(outer(n));
    out!();
}

fn main() {
    unsafe { truth::truth_begin(0x20000000) };
    std::panic::set_hook(Box::new(|_| {}));
    enter!('*', "");
    enter!('c', "prog::main");
    let list: [Box<dyn Shape>; 3] = [Box::new(shapes::Circle), Box::new(shapes::Square(1u8)), Box::new(shapes::Square(1u64))];
    for s in black_box(&list) {
        call!(s.twice(1));
    }
    call!(shapes::Square('a').area());
    call!(instances());
    call!(closures(black_box(1)));
    call!(outer(black_box(2)));
    call!(catches());
    call!(drops());
    call!(factorial(black_box(3)));
    call!(iterates());
    call!(threads());
    touch!(1);
    out!();
    out!();
    unsafe { truth::truth_end() };
}
