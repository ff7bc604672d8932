# Writes the load of power stations, hour by hour from 2024-01-01 on: it follows the hour and the
# day of the week, with noise and a few gaps.  With -v faults=1 the last day has a jump at five in
# the morning and a dip at seven in the evening.
#
#   awk -v seed=1 -v days=120 -v stations=2 -f load.awk >load.csv

function drawn() {  # 0 to below 1, the same by every awk
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function noise() { return drawn() + drawn() + drawn() + drawn() - 2 }
BEGIN {
    state = (seed == "" ? 1 : seed) * 48271 % 2147483647
    for (i = 0; i < 10; ++i) drawn()
    days = days == "" ? 120 : days
    split("31 29 31 30 31 30 31 31 30 31 30 31", lengths, " ")
    print "when,station,load"
    for (s = 1; s <= (stations == "" ? 2 : stations); ++s) {
        month = 1; date = 0; slow = 0
        for (day = 0; day < days; ++day) {
            if (++date > lengths[month]) { date = 1; ++month }
            for (hour = 0; hour < 24; ++hour) {
                slow = 0.95 * slow + noise()
                load = 40 + 10 * s + 12 * sin((hour - 8) / 24 * 6.283185) + \
                    4 * sin((hour - 5) / 12 * 6.283185) + \
                    (day % 7 < 5 ? 8 : -8) + slow + noise()
                if (faults && day == days - 1 && hour == 5) load += 30
                if (faults && day == days - 1 && hour == 19) load -= 30
                gap = !faults && drawn() < 0.002
                printf "2024-%02d-%02d %02d:00,%s,%s\n", month, date, hour, \
                    substr("northsoutheast west", 5 * s - 4, 5), \
                    gap ? "" : sprintf("%.2f", load)
            }
        }
    }
}
