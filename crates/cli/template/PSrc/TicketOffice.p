// A ticket office, and clients that ask how many seats are left before they buy one.
//
// Machines run concurrently and only send each other messages. A message waits in the inbox of its receiver until the
// receiver is done with earlier ones. So whatever a machine learns from a message may be out of date.

event eHowMany: Client;   // client to office
event eLeft: int;         // office to client
event eBuy: Client;       // client to office
event eTicket;            // office to client
event eSoldOut;           // office to client

event eOpened: int;       // for the specs: the office opens with so many seats
event eHome: Client;      // for the specs: a client is done

machine Office {
  var left: int;

  start state Selling {
    entry (seats: int) {
      left = seats;
      announce eOpened, seats;
    }

    on eHowMany do (client: Client) {
      send client, eLeft, left;
    }

    on eBuy do (client: Client) {
      // The client has seen a free seat, some messages ago. Is it still free?
      // FIX: if (left == 0) { send client, eSoldOut; return; }
      left = left - 1;
      send client, eTicket;
    }
  }
}

machine Client {
  var office: Office;

  start state Looking {
    entry (given: Office) {
      office = given;
      send office, eHowMany, this;
    }
    on eLeft do (left: int) {
      if (left > 0) {
        send office, eBuy, this;
        goto Buying;
      }
      goto Home;
    }
  }

  state Buying {
    on eTicket, eSoldOut goto Home;
  }

  state Home {
    entry {
      announce eHome, this;
    }
  }
}
