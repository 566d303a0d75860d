// A coordinator whose inbox fills in every order. It starts all workers, one after the other; each reports twice, and may be done
// before the last one has started. The coordinator remembers whom it has heard of, and lets all go when all have reported.

param nWorkers: int;

event eStart: (boss: machine, me: int);
event eHalf: int;
event eFull: (me: int, result: int);
event eGo;

machine Coordinator {
    var workers: seq[machine];
    var halves: set[int];
    var fulls: set[int];
    var sum: int;

    start state Starting {
        entry {
            var i: int;
            while (i < nWorkers) {
                workers += (i, new Worker());
                i = i + 1;
            }
            i = 0;
            while (i < nWorkers) {
                send workers[i], eStart, (boss = this, me = i);
                i = i + 1;
            }
            goto Collecting;
        }
    }

    state Collecting {
        on eHalf do (who: int) {
            assert !(who in halves) && !(who in fulls);
            halves += (who);
        }
        on eFull do (report: (me: int, result: int)) {
            var i: int;
            assert report.me in halves;
            fulls += (report.me);
            sum = sum + report.result;
            assert sum <= 2 * sizeof(fulls);
            if (sizeof(fulls) == nWorkers) {
                while (i < nWorkers) {
                    send workers[i], eGo;
                    i = i + 1;
                }
            }
        }
    }
}

machine Worker {
    var steps: int;

    start state Waiting {
        on eStart do (given: (boss: machine, me: int)) {
            send given.boss, eHalf, given.me;
            send given.boss, eFull, (me = given.me, result = choose(3));
            goto Reported;
        }
    }

    state Reported {
        on eGo goto Done;
    }

    state Done { }
}

test param (nWorkers in [3, 4, 5, 6, 7, 8]) tcFanIn [main = Coordinator]: { Coordinator, Worker };
