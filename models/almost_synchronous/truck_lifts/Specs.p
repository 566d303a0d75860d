// Those who carry are never more than one step apart.
spec Level observes eCarries, eReleased {
    var heights: map[int, int];

    start state Watching {
        on eCarries do (lift: (number: int, height: int)) {
            var other: int;
            foreach (other in keys(heights)) {
                if (other != lift.number) {
                    assert heights[other] - lift.height <= 1 && lift.height - heights[other] <= 1, "the truck tips over";
                }
            }
            heights[lift.number] = lift.height;
        }
        on eReleased do (number: int) {
            heights -= (number);
        }
    }
}

module Garage = { Yard, Workers, Controller };

test param (nLifts in [2, 3, 4], maxHeight in [1, 2]) tcLifts [main=Yard]: assert Level in (union Garage, { Lift });
test param (nLifts in [2], maxHeight in [2]) tcStubbornLift [main=Yard]:
    assert Level in (union Garage, { StubbornLift -> Lift });
