// Who is there: everybody, or without some of the people.

fun assemble(hasLid: bool, hasAdmin: bool) {
    var device: machine;
    var controller: machine;
    var driver: machine;
    var power: machine;
    var log: machine;
    var manager: machine;
    var port: machine;
    var hub: machine;
    device = new Device();
    controller = new HostController(device);
    send device, eMeet, controller;
    driver = new FunctionDriver(controller);
    power = new PowerManager(driver);
    send driver, eMeet, power;
    log = new Log();
    manager = new PnpManager((driver = driver, log = log));
    port = new Port(device);
    hub = new Hub((port = port, controller = controller, manager = manager, log = log));
    send port, eMeet, hub;
    new Application(driver);
    new Hand(port);
    if (hasLid) {
        new Lid(power);
    }
    if (hasAdmin) {
        new Admin(manager);
    }
}

// Plugs and reads.
machine Computer {
    start state Begin {
        entry {
            assemble(false, false);
        }
    }
}

// And closes the lid.
machine Laptop {
    start state Begin {
        entry {
            assemble(true, false);
        }
    }
}

// And ejects and rebalances.
machine Server {
    start state Begin {
        entry {
            assemble(false, true);
        }
    }
}

machine Everything {
    start state Begin {
        entry {
            assemble(true, true);
        }
    }
}

module Stack = { Hand, Port, Device, Hub, Timer, Log, Disk, FunctionDriver, PowerManager, Lid, Admin, Application };
module Right = (union Stack, { HostController, PnpManager });
module Chatty = (union Stack, { ChattyController -> HostController, PnpManager });
module Hasty = (union Stack, { HostController, HastyManager -> PnpManager });

test tcComputer [main=Computer]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Right, { Computer });
test tcLaptop [main=Laptop]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Right, { Laptop });
test tcServer [main=Server]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Right, { Server });
test tcEverything [main=Everything]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Right, { Everything });
test tcChattyController [main=Laptop]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Chatty, { Laptop });
test tcHastyManager [main=Server]: assert NoTransferAsleep, OneAnswer, ComeAndGo in (union Hasty, { Server });
