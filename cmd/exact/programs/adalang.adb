--  Ada: packages, nested procedures, generics, tagged types, tasks, exceptions.
with Shapes;  use Shapes;
with Truth;   use Truth;
with GNAT.Source_Info; use GNAT.Source_Info;

procedure Adalang is
   package Bytes is new Lists (Short_Short_Integer);
   package Words is new Lists (Integer);

   procedure Outer (N : Integer) with No_Inline;
   procedure Outer (N : Integer) is
      procedure Nested (K : Integer) with No_Inline;
      procedure Nested (K : Integer) is
      begin
         Enter ("adalang.outer.nested", File);
         for I in 1 .. N + K loop
            Page (Line).all := 1;
         end loop;
         Leave;
      end Nested;
   begin
      Enter ("adalang.outer", File);
      At_Line (Line); Nested (One);
      Page (Line).all := 1;
      Leave;
   end Outer;

   procedure Overloaded (N : Integer) with No_Inline;
   procedure Overloaded (N : Integer) is
   begin
      Enter ("adalang.overloaded@1", File);
      for I in 1 .. N loop
         Page (Line).all := 1;
      end loop;
      Leave;
   end Overloaded;

   procedure Overloaded (B : Boolean) with No_Inline;
   procedure Overloaded (B : Boolean) is
   begin
      Enter ("adalang.overloaded@2", File);
      if B then
         Page (Line).all := 1;
      end if;
      Leave;
   end Overloaded;

   procedure Raises (N : Integer) with No_Inline;
   procedure Raises (N : Integer) is
   begin
      Enter ("adalang.raises", File);
      Page (Line).all := 1;
      if N > 0 then
         raise Constraint_Error;
      end if;
      Leave;
   end Raises;

   procedure Handles with No_Inline;
   procedure Handles is
      Before : Integer;
   begin
      Enter ("adalang.handles", File);
      Before := Depth;
      At_Line (Line); Raises (One);
      Leave;
   exception
      when Constraint_Error =>
         Back (Before);
         Page (Line).all := 1;
         Leave;
   end Handles;

   procedure Tasks with No_Inline;
   procedure Tasks is
      task Worker;
      task body Worker is
      begin
         Others_Call;
         Enter ("adalang.tasks.worker", File);
         Page (Line).all := 1;
         At_Line (Line); Outer (One);
         Leave;
         Leave;
      end Worker;
   begin
      Enter ("adalang.tasks", File);
      Page (Line).all := 1;
      Leave;
   end Tasks;

   C : aliased Circle;
   R : Integer;
begin
   First (16#2000_0000#);
   Others_Call;
   Enter ("adalang", File);
   At_Line (Line); Twice (C, One);
   At_Line (Line); Bytes.Push (1);
   At_Line (Line); Words.Push (1);
   At_Line (Line); Outer (One);
   At_Line (Line); Overloaded (One);
   At_Line (Line); Overloaded (One = 1);
   At_Line (Line); Handles;
   At_Line (Line); R := Factorial (2 * One);
   At_Line (Line); Tasks;
   for I in 1 .. R loop
      Page (Line).all := 1;
   end loop;
   Leave;
   Leave;
   Last;
end Adalang;
