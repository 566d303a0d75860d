// Two controllers that watch one deployment. The scaler wants three replicas for the load, the quota allows two. In the wrong version each
// of them undoes what the other has done; in the right version the scaler asks for no more than the quota.

event eWatch: machine;
event eSet: int;
event eChanged: int;

// Tells all watchers of every change.
machine Deployment {
    var replicas: int;
    var watchers: seq[machine];

    start state Running {
        entry (n: int) { replicas = n; }
        on eWatch do (who: machine) {
            watchers += (sizeof(watchers), who);
            send who, eChanged, replicas;
        }
        on eSet do (n: int) {
            var watcher: machine;
            if (n == replicas) { return; }
            replicas = n;
            foreach (watcher in watchers) { send watcher, eChanged, replicas; }
        }
    }
}

// Sets the replicas to what it wants when there are fewer, or more.
machine Controller {
    var deployment: machine;
    var least: int;
    var most: int;

    start state Watching {
        entry (setup: (deployment: machine, least: int, most: int)) {
            deployment = setup.deployment;
            least = setup.least;
            most = setup.most;
            send deployment, eWatch, this;
        }
        on eChanged do (replicas: int) {
            if (replicas < least) { send deployment, eSet, least; }
            if (replicas > most) { send deployment, eSet, most; }
        }
    }
}

fun Control(wanted: int, quota: int) {
    var deployment: machine;
    deployment = new Deployment(1);
    new Controller((deployment = deployment, least = wanted, most = 10));
    new Controller((deployment = deployment, least = 0, most = quota));
}

machine Right { start state Init { entry { Control(2, 2); } } }
machine Wrong { start state Init { entry { Control(3, 2); } } }

test tcRight [main = Right]: { Right, Deployment, Controller };
test tcWrong [main = Wrong]: { Wrong, Deployment, Controller };
