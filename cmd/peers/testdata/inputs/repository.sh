rm -rf repository
git init -q repository
cd repository
git config user.email a@b.example
git config user.name a
for i in $(seq 25); do
  tail -n $((i * 300)) ../text >text
  tail -n $((i * 200)) ../large.c >large.c
  git add . && git commit -qm "commit $i"
done
