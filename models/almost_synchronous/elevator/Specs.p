// The cabin moves only between closed doors, and the door opens only where the cabin stands.
spec SafeRide observes eMove, eArrived, eOpenDoor, eDoorClosed {
    start state Closed {
        on eMove goto Riding;
        on eOpenDoor goto Ajar;
        ignore eDoorClosed;
    }

    state Riding {
        on eArrived goto Closed;
        on eOpenDoor do {
            assert false, "the door opens during the ride";
        }
        on eDoorClosed, eMove do {
            assert false, "two things at once";
        }
    }

    // From the order to open it until it has closed.
    state Ajar {
        on eDoorClosed goto Closed;
        on eMove do {
            assert false, "a ride with the door open";
        }
        ignore eOpenDoor, eArrived;
    }
}

module House = { Building, Passengers, Elevator, Motor };

test param (nFloors in [2, 3, 4]) tcElevator [main=Building]:
    assert SafeRide in (union House, { Door, Timer });
test param (nFloors in [2]) tcChattyTimer [main=Building]:
    assert SafeRide in (union House, { Door, ChattyTimer -> Timer });
test param (nFloors in [2]) tcHeavyDoor [main=Building]:
    assert SafeRide in (union House, { HeavyDoor -> Door, Timer });
