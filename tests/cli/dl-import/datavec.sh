#!/bin/bash
# A TransformProcess of DataVec becomes a recipe, of 1.0 and of 0.x, which does the same to rows;
# actions without a step are named, all of them.
c=org.datavec.api.transform
sed "s/%c/\"@class\": \"$c/g" >new.json <<'EOF'
{"initialSchema": {%c.schema.Schema", "columns": [
  {%c.metadata.StringMetaData", "name": "when"},
  {%c.metadata.StringMetaData", "name": "customer"},
  {%c.metadata.IntegerMetaData", "name": "items", "minAllowedValue": 0},
  {%c.metadata.CategoricalMetaData", "name": "country", "stateNames": ["USA", "CAN", "FR"]},
  {%c.metadata.DoubleMetaData", "name": "amount", "minAllowedValue": 0.0}]},
 "actionList": [
  {"filter": {%c.filter.ConditionFilter", "condition":
    {%c.condition.column.CategoricalColumnCondition", "columnName": "country", "op": "NotInSet",
     "set": ["USA", "CAN"]}}},
  {"filter": {%c.filter.FilterInvalidValues", "filterAnyInvalid": false,
    "columnsToFilterIfInvalid": ["items"]}},
  {"transform": {%c.transform.condition.ConditionalReplaceValueTransform",
    "columnToReplace": "amount", "newValue": {"@class": "org.datavec.api.writable.DoubleWritable",
    "value": 0.5}, "condition": {%c.condition.column.DoubleColumnCondition",
    "columnName": "amount", "op": "LessThan", "value": 0.0}}},
  {"transform": {%c.transform.time.StringToTimeTransform", "columnName": "when",
    "timeFormat": "YYYY-MM-dd HH:mm:ss.SSS", "timeZone": "UTC"}},
  {"transform": {%c.transform.column.RenameColumnsTransform", "oldNames": ["when"],
    "newNames": ["time"]}},
  {"transform": {%c.transform.time.DeriveColumnsFromTimeTransform", "columnName": "time",
    "insertAfter": "time", "inputTimeZone": "UTC", "derivedColumns": [{"columnName": "hour",
    "columnType": "Integer", "fieldType": {"fieldType": "hourOfDay"}}]}},
  {"transform": {%c.transform.column.RemoveColumnsTransform", "columnsToRemove": ["time", "customer"]}},
  {"transform": {%c.transform.integer.IntegerMathOpTransform", "columnName": "items",
    "mathOp": "Divide", "scalar": 2}},
  {"transform": {%c.transform.categorical.CategoricalToOneHotTransform", "columnName": "country"}}]}
EOF
cat >rows.csv <<'EOF'
2016-01-01 17:00:00.000,ann,10,USA,100
2016-01-01 18:00:01.256,bob,7,FR,20
2016-01-02 02:03:02.321,cy,5,CAN,-3.5
2016-01-03 03:00:00.000,di,-1,USA,5
2016-01-03 04:00:00.000,ed,x,USA,5
EOF
dl-import --datavec new.json -o new.recipe && dl-preprocess -q --recipe new.recipe rows.csv -o new.dls
dl-shard --head 9 --json new.dls | jq -c .features
cat >old.json <<'EOF'
{"initialSchema": {"Schema": {"columns": [{"Categorical": {"name": "c", "stateNames": ["a", "b"]}},
   {"Integer": {"name": "i"}}, {"String": {"name": "s"}}, {"Double": {"name": "d"}}]}},
 "actionList": [
  {"transform": {"CategoricalToIntegerTransform": {"columnName": "c"}}},
  {"transform": {"IntegerMathOpTransform": {"columnName": "i", "mathOp": "Modulus", "scalar": 3}}},
  {"transform": {"ReplaceStringTransform": {"columnName": "s", "map": {"([a-z])x": "$1y"}}}},
  {"transform": {"AppendStringColumnTransform": {"columnName": "s", "toAppend": "'z"}}},
  {"transform": {"StringToCategoricalTransform": {"columnName": "s", "stateNames": ["ay'z", "q'z"]}}},
  {"transform": {"AddConstantColumnTransform": {"newColumnName": "t", "newColumnType": "String",
    "fixedValue": {"Text": {"bytes": "c29tZSB2YWx1ZXMA", "length": 11}}}}},
  {"transform": {"Log2Normalizer": {"columnName": "d", "columnMean": 3.0, "columnMin": 1.0, "scalingFactor": 0.5}}},
  {"filter": {"ConditionFilter": {"condition": {"BooleanCondition": {"type": "NOT", "conditions":
    [{"NullWritableColumnCondition": {"columnName": "t"}}]}}}}}]}
EOF
dl-import --datavec old.json | jq -c '.steps[], .tensors'
jq 'del(.actionList[-1])' old.json >all.json && dl-import -q --datavec all.json -o all.recipe
printf 'b,-7,ax,7\na,8,q,1\n' >all.csv && dl-preprocess -q --recipe all.recipe all.csv -o all.dls
dl-shard --head 9 --json all.dls | jq -c .features
reduce='{"reducer": {"Reducer": {"keyColumns": ["c"], "defaultOp": "Mean", "opMap": {"i": ["Sum", "Count"], "s": ["CountUnique"]}}}}'
jq --argjson r "$reduce" '.actionList = [$r]' old.json >r.json && dl-import --datavec r.json -o r.recipe
printf 'b,1,x,7\na,8,y,1\nb,3,x,8\n' >r.csv && dl-preprocess -q --recipe r.recipe r.csv -o r.dls
dl-shard --head 9 --json r.dls | jq -c .features
status() { "$@"; echo "status $?"; }
jq '.actionList = [{"convertToSequence": {}}, {"transform": {"IPAddressToLocationTransform": {}}},
  {"transform": {"RemoveColumnsTransform": {"columnsToRemove": ["cc"]}}}, {"filter": {"Mine": {}}}, 3]' old.json >bad.json
status dl-import --datavec bad.json -o no.json
echo '{"layers": []}' >net.json
status dl-import --datavec net.json
status dl-import --datavec
ls no.json 2>/dev/null
