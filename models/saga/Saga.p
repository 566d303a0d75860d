// Trips are booked with several services, one after the other; a service may refuse, and then what was booked is
// cancelled again, the last one first. What is checked: a trip that failed holds nothing, one that succeeded holds
// everything, and every trip that was begun comes to an end. A forgetful saga leaves its first booking as it is.

param nTrips: int;
param nSeats: int;
param isForgetful: bool;

enum Kind { FLIGHT, HOTEL, CAR }

type tRequest = (trip: int, saga: Saga);
type tBooking = (trip: int, kind: Kind);

event eBook: tRequest;
event eBooked: tBooking;
event eRefused: tBooking;
event eCancel: tRequest;
event eCancelled: tBooking;
event eSucceeded: int;
event eFailed: int;

// What the monitors hear.
event eHolds: tBooking;
event eReleases: tBooking;

machine Service {
    var kind: Kind;
    var nFree: int;
    var held: set[int];

    start state Begin {
        entry (given: (kind: Kind, nFree: int)) {
            kind = given.kind;
            nFree = given.nFree;
            goto Open;
        }
    }

    state Open {
        on eBook do (request: tRequest) {
            if (nFree == 0 || $) {
                send request.saga, eRefused, (trip = request.trip, kind = kind);
                return;
            }
            nFree = nFree - 1;
            held += (request.trip);
            announce eHolds, (trip = request.trip, kind = kind);
            send request.saga, eBooked, (trip = request.trip, kind = kind);
        }
        on eCancel do (request: tRequest) {
            assert request.trip in held, format("trip {0} was never booked here", request.trip);
            held -= (request.trip);
            nFree = nFree + 1;
            announce eReleases, (trip = request.trip, kind = kind);
            send request.saga, eCancelled, (trip = request.trip, kind = kind);
        }
    }
}

machine Saga {
    var services: map[Kind, Service];
    var customer: machine;
    var trip: int;
    // The last one first.
    var booked: seq[Kind];

    start state Booking {
        entry (given: (services: map[Kind, Service], trip: int, customer: machine)) {
            var kind: Kind;
            var isRefused: bool;
            services = given.services;
            trip = given.trip;
            customer = given.customer;
            foreach (kind in keys(services)) {
                if (!isRefused) {
                    send services[kind], eBook, (trip = trip, saga = this);
                    receive {
                        case eBooked: (booking: tBooking) {
                            assert booking.trip == trip && booking.kind == kind;
                            booked += (0, kind);
                        }
                        case eRefused: (booking: tBooking) {
                            isRefused = true;
                        }
                    }
                }
            }
            if (isRefused) {
                goto Compensating;
            }
            send customer, eSucceeded, trip;
            raise halt;
        }
    }

    state Compensating {
        entry {
            var kind: Kind;
            if (sizeof(booked) == 0 || isForgetful && sizeof(booked) == 1) {
                send customer, eFailed, trip;
                raise halt;
            }
            kind = booked[0];
            booked -= (0);
            send services[kind], eCancel, (trip = trip, saga = this);
        }
        on eCancelled goto Compensating;
    }
}

machine Customer {
    start state Travelling {
        entry {
            var services: map[Kind, Service];
            var trip: int;
            services[FLIGHT] = new Service((kind = FLIGHT, nFree = nSeats));
            services[HOTEL] = new Service((kind = HOTEL, nFree = nSeats));
            services[CAR] = new Service((kind = CAR, nFree = nSeats));
            while (trip < nTrips) {
                new Saga((services = services, trip = trip, customer = this));
                trip = trip + 1;
            }
        }
        ignore eSucceeded, eFailed;
    }
}

spec AllOrNothing observes eHolds, eReleases, eSucceeded, eFailed {
    var held: map[int, set[Kind]];

    start state Watching {
        on eHolds do (booking: tBooking) {
            if (!(booking.trip in held)) {
                held[booking.trip] = default(set[Kind]);
            }
            held[booking.trip] += (booking.kind);
        }
        on eReleases do (booking: tBooking) {
            held[booking.trip] -= (booking.kind);
        }
        on eSucceeded do (trip: int) {
            assert sizeof(held[trip]) == 3, format("trip {0} lacks a booking", trip);
        }
        on eFailed do (trip: int) {
            assert !(trip in held) || sizeof(held[trip]) == 0, format("trip {0} failed and still holds something", trip);
        }
    }
}

spec EveryTripEnds observes eHolds, eSucceeded, eFailed {
    var open: set[int];

    start cold state Quiet {
        on eHolds do (booking: tBooking) {
            open += (booking.trip);
            goto Busy;
        }
        ignore eSucceeded, eFailed;
    }
    hot state Busy {
        on eHolds do (booking: tBooking) {
            open += (booking.trip);
        }
        on eSucceeded, eFailed do (trip: int) {
            open -= (trip);
            if (sizeof(open) == 0) {
                goto Quiet;
            }
        }
    }
}

module Trips = { Customer, Saga, Service };

test param (nTrips in [1, 2, 3, 4], nSeats in [1], isForgetful in [false]) tcSaga [main=Customer]:
    assert AllOrNothing, EveryTripEnds in Trips;
test param (nTrips in [1, 2], nSeats in [1], isForgetful in [true]) tcForgetful [main=Customer]:
    assert AllOrNothing, EveryTripEnds in Trips;
