# Writes a table of ROWS passengers of a ship that sank, as an export of a database has it:
# words, dates, gaps, ids, a column that is always the same.  Women, children, and who paid
# more, are likelier to survive; some do against that.
#
#   awk -v seed=1 -v rows=1000 -f passengers.awk >passengers.csv

function drawn() {  # 0 to below 1, the same by every awk
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function one_of(words,    list, n) {
    n = split(words, list, " ")
    return list[int(drawn() * n) + 1]
}
BEGIN {
    state = (seed == "" ? 1 : seed) * 48271 % 2147483647
    for (i = 0; i < 10; ++i) drawn()
    print "PassengerId,Name,Sex,Age,Class,Fare,Booked,Port,Crew,Ship,Survived"
    for (i = 1; i <= (rows == "" ? 1000 : rows); ++i) {
        sex = drawn() < 0.4 ? "female" : "male"
        age = int((drawn() + drawn() + drawn()) * 27) + 1
        class = one_of("first second third third third")
        fare = (class == "first" ? 60 : class == "second" ? 20 : 8) * (0.5 + drawn())
        crew = drawn() < 0.1 ? "yes" : "no"
        chance = -1.2 + (sex == "female" ? 2.6 : 0) + (age < 12 ? 1.8 : 0) + \
            (class == "first" ? 1.2 : class == "third" ? -0.8 : 0) + (crew == "yes" ? -0.7 : 0)
        survived = drawn() < 1 / (1 + exp(-2 * chance)) ? "yes" : "no"
        name = "\"" one_of("Berg Costa Dahl Evans Fox Gray Hill Lund Moran Reed") ", " \
            one_of("Ada Bo Cora Dan Eva Finn Grace Hugo Ida Jon") " " i "\""
        day = sprintf("1912-%02d-%02d", 1 + int(drawn() * 4), 1 + int(drawn() * 28))
        printf "%d,%s,%s,%s,%s,%.2f,%s,%s,%s,Titan,%s\n", i, name, sex, \
            drawn() < 0.2 ? "" : age, class, fare, day, \
            drawn() < 0.02 ? "" : one_of("Cherbourg Queenstown Southampton"), crew, survived
    }
}
