package main
import ("testing";"strings";"time";"fmt";"os";"bufio"
"github.com/ianlancetaylor/demangle")
func TestReal(t *testing.T){
 f,_:=os.Open("/tmp/h/symbols.scratch/names"); sc:=bufio.NewScanner(f); sc.Buffer(nil,1<<20)
 var names []string; for sc.Scan() {names=append(names,sc.Text())}
 worst:=0.0; n:=0; tot:=0; ml:=0; ad:=0; maxS:=0
 for _,s:=range names { l:=demangle.Limits{Steps:1<<40,Depth:1<<30}; a,err:=demangle.ToStringWithin(s,&l,demangle.MaxLength(16)); b,err2:=demangle.ToString(s,demangle.MaxLength(16)); if a!=b || (err==nil)!=(err2==nil) {t.Fatal(s,a,b)}
  if err!=nil {continue}
  for _,d:=range []int{16,32,64,128,256,512} { l:=demangle.Limits{Steps:1<<40,Depth:d}; if _,err:=demangle.ToStringWithin(s,&l); err==nil { ad=max(ad,d);break } }
  st:=1<<40-l.Steps; n++; tot+=st; ml=max(ml,len(s)); maxS=max(maxS,st)
  if r:=float64(st)/float64(len(s)); r>worst { worst=r; fmt.Fprintln(os.Stderr,r,len(s),st,s[:min(len(s),200)])}
 }
 fmt.Fprintln(os.Stderr,n,"avg",tot/max(n,1),"maxlen",ml,"maxsteps",maxS,"depth",ad)
 for range 3 { t0:=time.Now(); for _,s:=range names { demangle.ToString(s,demangle.MaxLength(16)) }; d1:=time.Since(t0); t0=time.Now(); for _,s:=range names { l:=demangle.Limits{Steps:1<<40,Depth:2000}; demangle.ToStringWithin(s,&l,demangle.MaxLength(16)) }; fmt.Fprintln(os.Stderr,d1,time.Since(t0)) }
}
func tm(s string, st int) (time.Duration,string) { t:=time.Now(); var o string; var err error; func(){ defer func(){ if r:=recover();r!=nil {err=fmt.Errorf("panic %v",r)}}(); l:=demangle.Limits{Steps:st,Depth:2000};o,err=demangle.ToStringWithin(s,&l, demangle.MaxLength(16)) }(); e:=""; if err!=nil {e=err.Error()}; if len(e)>60 {e=e[:60]};return time.Since(t),fmt.Sprint(len(o)," ",e)}
func TestPat(t *testing.T){
 show:=func(n string, s string){ d,o:=tm(s,1<<22); fmt.Fprintln(os.Stderr,n,len(s),d,o)}
 for _,n:=range []int{20,30} {
  show("cv", "_Z"+strings.Repeat("N1acvT_I",n)+"i"+strings.Repeat("EE",n)+"v")
  show("cv2", "_ZN1aIiE"+"cvT_I"+strings.Repeat("N1aIiEcvT_I",n)+"i"+strings.Repeat("EE",n)+"v")
 }
 for _,n:=range []int{1000,2000,2000000} { show("P","_Z1f"+strings.Repeat("P",n)+"i");show("K","_Z1f"+strings.Repeat("K",n)+"i") }
}
