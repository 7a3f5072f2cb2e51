package body Truth is
   procedure C_Enter (Kind : Character; Name, File : System.Address)
     with Import, Convention => C, External_Name => "truth_enter";

   procedure Enter (Kind : Character; Name, File : String) is
      type Text is access String;
      N : constant Text := new String'(Name & ASCII.NUL);
      F : constant Text := new String'(File & ASCII.NUL);
   begin
      C_Enter (Kind, N.all'Address, F.all'Address);
   end Enter;

   procedure Enter (Name, File : String) is
   begin
      Enter ('c', Name, File);
   end Enter;

   procedure Others_Call is
   begin
      Enter ('*', "", "");
   end Others_Call;
end Truth;
