// Nothing is sent to the light while the board has no power, and each request has one answer.
spec PowerFirst observes eD0Entry, eD0Exit, ePowerDone, eSetLight, eSelfTest, eSelfTested {
    start state Down {
        on eD0Entry goto GoingUp;
        on eSetLight do {
            assert false, "a transfer without power";
        }
    }

    state GoingUp {
        on ePowerDone goto Up;
        on eSetLight do {
            assert false, "a transfer before power is there";
        }
    }

    state Up {
        on eSelfTest goto InTest;
        on eD0Exit goto GoingDown;
        ignore eSetLight;
    }

    state InTest {
        on eSelfTested goto Up;
        ignore eSetLight;
    }

    state GoingDown {
        on ePowerDone goto Down;
        ignore eSetLight;
    }
}

module Board = { Bench, System, Driver, Timer, Finger, Tracer, File };

test tcBoard [main=Bench]: assert PowerFirst in (union Board, { Switches, Light });
test tcBouncingSwitches [main=Bench]: assert PowerFirst in (union Board, { BouncingSwitches -> Switches, Light });
test tcChattyLight [main=Bench]: assert PowerFirst in (union Board, { Switches, ChattyLight -> Light });
