import java.util.*;

public class Words {
  interface Shape { double area(); }
  record Square(double a) implements Shape { public double area() { return a * a; } }
  record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
  static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] args) throws Exception {
    Map<String, Integer> count = new HashMap<>();
    double sum = 0;
    Thread other = new Thread(() -> System.out.println(fib(34)));
    other.start();
    for (int i = 0; i < 900000; i++) {
      count.merge(Integer.toString(i * 7919 % 10007, 36), 1, Integer::sum);
      Shape s = i % 2 == 0 ? new Square(i) : new Circle(i);
      sum += s.area();
    }
    other.join();
    System.out.println(count.size() + " " + sum + " " + fib(33));
  }
}
