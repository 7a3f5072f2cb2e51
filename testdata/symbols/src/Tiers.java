/** Methods that run in several versions: interpreted, compiled fast, compiled well.
 *  With the stop after the first compiler's code they would have one each. */
public class Tiers {
	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static long hash(long n) {
		long h = 7;
		for (long i = 0; i < n; i++)
			h = h * 31 + (i ^ (h >>> 7));
		return h;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = 0; i < 20; i++) // the loop in hash is compiled while it runs
			sum += fib(24) + hash(400_000);
		System.out.println(sum);
	}
}
