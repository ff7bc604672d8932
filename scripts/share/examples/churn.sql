-- Customers of a telephone company and their calls to its support, made up: who leaves has a
-- contract by the month, calls often, and has not used the service for long.
create table customers (customer text primary key, since text, contract text, city text,
  monthly real, last_used text, churn text);
create table support (customer text, called text, minutes integer);
with recursive n(i) as (select 0 union all select i + 1 from n where i < 1199),
draw(i, a, b, c, d, e) as (select i, i * 7919 % 1201 / 1201.0, i * 104729 % 1213 / 1213.0,
  i * 15485863 % 1217 / 1217.0, i * 32452843 % 1223 / 1223.0, i * 49979687 % 1229 / 1229.0 from n)
insert into customers select 'c' || (10000 + i), date('2019-01-01', '+' || (i * 37 % 1800) || ' days'),
  case when a < 0.5 then 'month' when a < 0.8 then 'year' else 'two years' end,
  (case i % 11 when 0 then null when 1 then 'Bergen' when 2 then 'Porto' when 3 then 'Gent' else 'Graz' end),
  round(15 + 60 * b * b, 2), date('2024-06-30', '-' || cast(180 * c * c as integer) || ' days'),
  case when (a < 0.5) * 1.2 + d * d * 2.2 + c * c * 1.6 + e * 0.5 > 2.5 then 'yes' else 'no' end from draw;
with recursive n(i) as (select 0 union all select i + 1 from n where i < 1199),
calls(i, k, most) as (select i, 1, cast((i * 32452843 % 1223 / 1223.0) * (i * 32452843 % 1223 / 1223.0) * 8 as integer) from n
  union all select i, k + 1, most from calls where k < most)
insert into support select 'c' || (10000 + i), date('2024-06-30', '-' || (i * k % 90) || ' days'), 1 + i * k % 40
  from calls where most > 0;
