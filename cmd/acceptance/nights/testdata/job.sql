create table t(a integer primary key,b text,c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<90000) insert into t select i, 'k'||(i*7919%10007), i*0.37 from n;
create index tb on t(b);
select count(*),sum(c) from t where b like 'k1%';
select b,count(*),avg(c) from t group by b order by 3 desc limit 5;
select count(*) from t x join t y on x.b=y.b where x.a<y.a;
