// D: structs, classes, interfaces, templates, nested functions, delegates, exceptions.
module prog;

import core.thread;
import core.runtime;

extern (C) nothrow @nogc
{
    void truth_begin(ulong base);
    void truth_end();
    void truth_enter(char kind, const char* name, const char* file);
    void truth_line(int line);
    void truth_leave();
    ubyte* truth_page(int line);
    int truth_depth();
    void truth_return(int depth);
}

pragma(inline, false) void enter(char kind, string name)
{
    truth_enter(kind, name.ptr, "dlang.d");
}

extern (C) __gshared int one = 1;

abstract class Shape
{
    abstract void draw(int n);
}

class Circle : Shape
{
    int n = 1;
    override void draw(int n)
    {
        enter('c', "prog.Circle.draw(int)");
        foreach (i; 0 .. n) *truth_page(__LINE__) = 1;
        truth_leave();
    }
}

struct Square(T)
{
    pragma(inline, false) void area(T n)
    {
        enter('c', "prog.Square!(" ~ T.stringof ~ ").Square.area(" ~ T.stringof ~ ")");
        foreach (i; 0 .. T.sizeof) *truth_page(__LINE__) = 1;
        truth_leave();
    }
}

pragma(inline, false) void generic(T)(T n)
{
    enter('c', "prog.generic!(" ~ T.stringof ~ ").generic(" ~ T.stringof ~ ")");
    foreach (i; 0 .. T.sizeof) *truth_page(__LINE__) = 1;
    truth_leave();
}

pragma(inline, false) void overloaded(int n)
{
    enter('c', "prog.overloaded(int)");
    *truth_page(__LINE__) = 1;
    truth_leave();
}

pragma(inline, false) void overloaded(string s)
{
    enter('c', "prog.overloaded(immutable(char)[])");
    *truth_page(__LINE__) = 1;
    truth_leave();
}

pragma(inline, false) void outer(int n)
{
    pragma(inline, false) void nested(int k)
    {
        enter('c', "prog.outer(int).nested(int)");
        foreach (i; 0 .. n + k) *truth_page(__LINE__) = 1;
        truth_leave();
    }

    enter('c', "prog.outer(int)");
    truth_line(__LINE__); nested(one);
    *truth_page(__LINE__) = 1;
    truth_leave();
}

pragma(inline, true) void small(int n)
{
    enter('i', "prog.small(int)");
    foreach (i; 0 .. n) *truth_page(__LINE__) = 1;
    truth_leave();
}

pragma(inline, false) void inlines(int n)
{
    enter('c', "prog.inlines(int)");
    truth_line(__LINE__); small(n);
    truth_line(__LINE__); small(n + 1);
    truth_leave();
}

pragma(inline, false) void throws(int n)
{
    enter('c', "prog.throws(int)");
    *truth_page(__LINE__) = 1;
    if (n > 0) throw new Exception("");
    truth_leave();
}

pragma(inline, false) void catches()
{
    enter('c', "prog.catches()");
    int depth = truth_depth();
    try
    {
        truth_line(__LINE__); throws(one);
    }
    catch (Exception e)
    {
        truth_return(depth);
        *truth_page(__LINE__) = 1;
    }
    truth_leave();
}

pragma(inline, false) int factorial(int n)
{
    enter('c', "prog.factorial(int)");
    *truth_page(__LINE__) = 1;
    int r = 1;
    if (n > 1)
    {
        truth_line(__LINE__); r = n * factorial(n - 1);
    }
    truth_leave();
    return r;
}

pragma(inline, false) void worker()
{
    enter('c', "prog.worker()");
    *truth_page(__LINE__) = 1;
    truth_line(__LINE__); outer(one);
    truth_leave();
}

pragma(inline, false) void threads()
{
    enter('c', "prog.threads()");
    auto t = new Thread(() { enter('*', ""); worker(); truth_leave(); }).start();
    t.join();
    *truth_page(__LINE__) = 1;
    truth_leave();
}

void main()
{
    truth_begin(0x20000000);
    enter('*', "");
    enter('c', "D main");
    Shape s = new Circle;
    truth_line(__LINE__); s.draw(one);
    truth_line(__LINE__); Square!int().area(one);
    truth_line(__LINE__); Square!long().area(one);
    truth_line(__LINE__); generic(one);
    truth_line(__LINE__); generic(cast(short) one);
    truth_line(__LINE__); overloaded(one);
    truth_line(__LINE__); overloaded("");
    truth_line(__LINE__); outer(one);
    truth_line(__LINE__); inlines(one);
    truth_line(__LINE__); catches();
    truth_line(__LINE__); factorial(2 * one);
    truth_line(__LINE__); threads();
    *truth_page(__LINE__) = 1;
    truth_leave();
    truth_leave();
    truth_end();
}
