package queries
import ("testing";"context";"time";"fmt";"os")
func TestInvTime(t *testing.T){
 db,err:=Open(context.Background(), os.Getenv("ZST")); if err!=nil{t.Fatal(err)}
 vs,_:=Views()
 db.Exec("SET memory_limit='3GB'"); db.Exec("SET max_temp_directory_size='2GB'")
 for _,v:=range vs { for _,i:=range v.Invariants { s:=time.Now(); ctx,c:=context.WithTimeout(context.Background(), 20*time.Second); r,err:=db.QueryContext(ctx,"select count(*) from ("+i.SQL+")"); n:=-1; if err==nil { for r.Next(){r.Scan(&n)}; err=r.Err(); r.Close() }; c(); if d:=time.Since(s); d>500*time.Millisecond || err!=nil || n!=0 {fmt.Println(v.Name,i.Name,d,n,err)} } }
}
