with Truth; use Truth;
with GNAT.Source_Info; use GNAT.Source_Info;
package body Shapes is
   procedure Twice (S : Shape'Class; N : Integer) is
   begin
      Enter ("shapes.twice", File);
      At_Line (Line); Draw (S, N);
      At_Line (Line); Draw (S, N + 1);
      Leave;
   end Twice;

   procedure Draw (S : Circle; N : Integer) is
   begin
      Enter ("shapes.draw", File);
      for I in 1 .. N loop
         Page (Line).all := 1;
      end loop;
      Leave;
   end Draw;

   function Factorial (N : Integer) return Integer is
      R : Integer := 1;
   begin
      Enter ("shapes.factorial", File);
      Page (Line).all := 1;
      if N > 1 then
         At_Line (Line); R := N * Factorial (N - 1);
      end if;
      Leave;
      return R;
   end Factorial;

   package body Lists is
      procedure Push (E : Element) is
      begin
         Enter ((if Element'Size = 8 then "adalang.bytes.push" else "adalang.words.push"), File);
         Page (Line).all := 1;
         Leave;
      end Push;
   end Lists;
end Shapes;
