// A clock is set to the reference of its round, plus at most one tick for each node before it.
spec CloseToReference observes eSetClock {
    start state Watching {
        on eSetClock do (given: (number: int, time: tTime)) {
            assert ahead(given.time.now, given.time.reference) <= given.number,
                format("node {0} is set {1} ticks off", given.number, ahead(given.time.now, given.time.reference));
        }
    }
}

module Ports = { Slave, Oscillator, Last };

test param (nNodes in [3], clockSize in [4], nTimes in [1, 2]) tcLine3 [main=Line3]:
    assert CloseToReference in (union Ports, { Line3, Source, Master });
test param (nNodes in [4], clockSize in [4], nTimes in [1]) tcLine4 [main=Line4]:
    assert CloseToReference in (union Ports, { Line4, Source, Master });
test param (nNodes in [3], clockSize in [8], nTimes in [4, 8]) tcRing3 [main=Ring3]:
    assert CloseToReference in (union Ports, { Ring3, RingSource, Master });
test param (nNodes in [3], clockSize in [4], nTimes in [4]) tcObligingLine3 [main=Line3]:
    assert CloseToReference in (union Ports, { Line3, Source, ObligingMaster -> Master });
test param (nNodes in [3], clockSize in [8], nTimes in [8]) tcObligingRing3 [main=Ring3]:
    assert CloseToReference in (union Ports, { Ring3, RingSource, ObligingMaster -> Master });
test param (nNodes in [3], clockSize in [8], nTimes in [8]) tcLoopingRing3 [main=Ring3]:
    assert CloseToReference in (union Ports, { Ring3, LoopingSource -> RingSource, Master });
