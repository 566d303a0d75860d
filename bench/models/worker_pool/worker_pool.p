// A pool that hands out tasks to workers. A worker may fail a task, which is then tried again, twice at most, by any worker that is
// free. What is checked: every task ends once, done or given up.

param nWorkers: int;
param nTasks: int;

event eTask: (task: int, pool: machine, worker: int);
event eDone: (task: int, worker: int);
event eFailed: (task: int, worker: int);
event eReport: (task: int, ok: bool);

machine Pool {
    var workers: seq[machine];
    var free: set[int];
    var open: set[int];
    var once: set[int];
    var twice: set[int];
    var done: set[int];
    var lost: set[int];
    var client: machine;

    start state Running {
        entry {
            var i: int;
            client = new Client();
            while (i < nWorkers) {
                workers += (i, new Worker());
                free += (i);
                i = i + 1;
            }
            i = 0;
            while (i < nTasks) {
                open += (i);
                i = i + 1;
            }
            assign();
        }
        on eDone do (result: (task: int, worker: int)) {
            free += (result.worker);
            assert !(result.task in done) && !(result.task in lost), "a task ended twice";
            done += (result.task);
            send client, eReport, (task = result.task, ok = true);
            assign();
        }
        on eFailed do (result: (task: int, worker: int)) {
            free += (result.worker);
            assert !(result.task in done) && !(result.task in lost), "a task ended twice";
            if (result.task in twice) {
                lost += (result.task);
                send client, eReport, (task = result.task, ok = false);
            } else {
                if (result.task in once) { twice += (result.task); }
                once += (result.task);
                open += (result.task);
            }
            assign();
        }
    }

    fun assign() {
        var worker: int;
        var task: int;
        while (sizeof(free) > 0 && sizeof(open) > 0) {
            worker = choose(free);
            task = choose(open);
            free -= (worker);
            open -= (task);
            send workers[worker], eTask, (task = task, pool = this, worker = worker);
        }
    }
}

machine Worker {
    var nDone: int;

    start state Waiting {
        on eTask do (given: (task: int, pool: machine, worker: int)) {
            if ($) {
                send given.pool, eDone, (task = given.task, worker = given.worker);
            } else {
                send given.pool, eFailed, (task = given.task, worker = given.worker);
            }
        }
    }
}

machine Client {
    var nReports: int;
    var nLost: int;

    start state Listening {
        on eReport do (report: (task: int, ok: bool)) {
            nReports = nReports + 1;
            if (!report.ok) { nLost = nLost + 1; }
            assert nLost <= nReports && nReports <= nTasks, "more reports than tasks";
        }
    }
}

test param (nWorkers in [2, 3, 4], nTasks in [3, 4, 5, 6]) tcPool [main = Pool]: { Pool, Worker, Client };
