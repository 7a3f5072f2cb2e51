// Coroutines: their bodies run in functions that the compiler makes (S9).
#include "truth.h"
#include <coroutine>

struct Task {
	struct promise_type {
		Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

KEPT static void work(int n) { IN("work(int)"); TOUCH(n); OUT(); }

static Task counts(int n)
{
	IN("counts(int)");
	TOUCH(n);
	OUT();
	co_await std::suspend_always{};
	IN("counts(int)");
	CALL(work(n + 1));
	OUT();
}

int main()
{
	truth_begin(0x20000000);
	IN("main");
	Task t = counts(2);
	while (!t.handle.done()) {
		truth_line(__LINE__ + 1);
		__builtin_coro_resume(t.handle.address());
	}
	t.handle.destroy();
	TOUCH(1);
	truth_end();
	return 0;
}
