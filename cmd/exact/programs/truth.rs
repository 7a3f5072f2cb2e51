// What truth.h has, for Rust.
use std::ffi::c_char;

extern "C" {
    pub fn truth_begin(base: usize);
    pub fn truth_end();
    pub fn truth_enter(kind: c_char, function: *const c_char, file: *const c_char);
    pub fn truth_line(line: i32);
    pub fn truth_leave();
    pub fn truth_page(line: i32) -> *mut u8;
    pub fn truth_depth() -> i32;
    pub fn truth_return(depth: i32);
}

pub fn name(legacy: &str, v0: &str, types: &[&str]) -> *const c_char {
    let mut name = if cfg!(v0) { v0.to_string() } else { legacy.to_string() };
    for t in types {
        name = if cfg!(v0) { name.replacen("{}", t, 1) } else { name + "@" + t };
    }
    Box::leak((name + "\0").into_boxed_str()).as_ptr() as *const c_char
}

// The second name is what v0 symbols spell; types are identities even where names lack them.
#[collapse_debuginfo(yes)]
macro_rules! enter {
    ($kind:expr, $name:expr) => {
        enter!($kind, $name, $name)
    };
    ($kind:expr, $name:expr, $v0:expr $(, $t:ty)*) => {
        unsafe {
            crate::truth::truth_enter($kind as u8 as std::ffi::c_char, crate::truth::name($name, $v0, &[$(std::any::type_name::<$t>()),*]), concat!(file!(), "\0").as_ptr() as *const std::ffi::c_char)
        }
    };
}
#[collapse_debuginfo(yes)]
macro_rules! out {
    () => {
        unsafe { crate::truth::truth_leave() }
    };
}
#[collapse_debuginfo(yes)]
macro_rules! call {
    ($call:expr) => {{
        unsafe { crate::truth::truth_line(line!() as i32) };
        $call
    }};
}
#[collapse_debuginfo(yes)]
macro_rules! touch {
    ($n:expr) => {{
        let mut left = $n as i32;
        while left > 0 {
            unsafe { *crate::truth::truth_page(line!() as i32) = 1 };
            left -= 1;
        }
    }};
}
