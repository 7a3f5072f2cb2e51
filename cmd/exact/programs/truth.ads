--  What truth.h has, for Ada.
with System;
package Truth is
   type Byte is mod 256;
   type Byte_Access is access all Byte;
   procedure First (Base : Long_Integer) with Import, Convention => C, External_Name => "truth_begin";
   procedure Last with Import, Convention => C, External_Name => "truth_end";
   procedure Enter (Name, File : String) with No_Inline;
   procedure Others_Call with No_Inline;
   procedure At_Line (Line : Integer) with Import, Convention => C, External_Name => "truth_line";
   procedure Leave with Import, Convention => C, External_Name => "truth_leave";
   function Page (Line : Integer) return Byte_Access with Import, Convention => C, External_Name => "truth_page";
   function Depth return Integer with Import, Convention => C, External_Name => "truth_depth";
   procedure Back (Depth : Integer) with Import, Convention => C, External_Name => "truth_return";
end Truth;
