package Shapes is
   One : Integer := 1 with Volatile;
   type Shape is abstract tagged record
      N : Integer := 1;
   end record;
   procedure Draw (S : Shape; N : Integer) is abstract;
   procedure Twice (S : Shape'Class; N : Integer) with No_Inline;
   type Circle is new Shape with null record;
   overriding procedure Draw (S : Circle; N : Integer) with No_Inline;
   function Factorial (N : Integer) return Integer with No_Inline;
   generic
      type Element is range <>;
   package Lists is
      procedure Push (E : Element) with No_Inline;
   end Lists;
end Shapes;
