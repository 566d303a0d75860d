// Raft (Ongaro and Ousterhout, 2014) without snapshots and membership changes: elections, log replication, commit.
// Timeouts are a machine that fires a bounded number of times in all, so that runs end.

type tEntry = (term: int, command: int);
type tVoteRequest = (term: int, candidate: int, from: machine, lastIndex: int, lastTerm: int);
type tVote = (term: int, voter: int, granted: bool);
type tAppend = (term: int, leader: int, from: machine, previousIndex: int, previousTerm: int, entries: seq[tEntry],
  commitIndex: int);
type tAppendReply = (term: int, server: int, success: bool, matchIndex: int);

event eServers: seq[machine];
event eVoteRequest: tVoteRequest;
event eVote: tVote;
event eAppend: tAppend;
event eAppendReply: tAppendReply;
event eElectionTimeout;
event eHeartbeat;
event eCommand: int;
event eBecomeLeader: (term: int, leader: int);
event eApply: (server: int, index: int, command: int);

machine Server {
  var me: int;
  var servers: seq[machine];
  var term: int;
  var votedFor: int;
  // The entry with index i is at i - 1.
  var log: seq[tEntry];
  var commitIndex: int;
  var votes: set[int];
  var nextIndex: seq[int];
  var matchIndex: seq[int];

  start state Init {
    entry (number: int) {
      me = number;
      votedFor = -1;
    }
    defer eVoteRequest, eVote, eAppend, eAppendReply, eElectionTimeout, eHeartbeat, eCommand;
    on eServers do (all: seq[machine]) {
      servers = all;
      goto Follower;
    }
  }

  state Follower {
    on eElectionTimeout goto Candidate;
    on eVoteRequest do (request: tVoteRequest) {
      Observe(request.term);
      AnswerVote(request);
    }
    on eAppend do (append: tAppend) {
      Observe(append.term);
      AnswerAppend(append);
    }
    ignore eVote, eAppendReply, eHeartbeat, eCommand;
  }

  state Candidate {
    entry {
      term = term + 1;
      votedFor = me;
      votes = default(set[int]);
      votes += (me);
      Broadcast();
      if (sizeof(votes) * 2 > sizeof(servers)) {
        goto Leader;
      }
    }
    on eElectionTimeout goto Candidate;
    on eVote do (vote: tVote) {
      if (vote.term > term) {
        Observe(vote.term);
        goto Follower;
      }
      if (vote.term == term && vote.granted) {
        votes += (vote.voter);
        if (sizeof(votes) * 2 > sizeof(servers)) {
          goto Leader;
        }
      }
    }
    on eVoteRequest do (request: tVoteRequest) {
      var falls: bool;
      falls = request.term > term;
      Observe(request.term);
      AnswerVote(request);
      if (falls) {
        goto Follower;
      }
    }
    on eAppend do (append: tAppend) {
      var falls: bool;
      falls = append.term >= term;
      Observe(append.term);
      AnswerAppend(append);
      if (falls) {
        goto Follower;
      }
    }
    ignore eAppendReply, eHeartbeat, eCommand;
  }

  state Leader {
    entry {
      var i: int;
      nextIndex = default(seq[int]);
      matchIndex = default(seq[int]);
      while (i < sizeof(servers)) {
        nextIndex += (i, sizeof(log) + 1);
        matchIndex += (i, 0);
        i = i + 1;
      }
      matchIndex[me] = sizeof(log);
      announce eBecomeLeader, (term = term, leader = me);
      Replicate();
    }
    on eCommand do (command: int) {
      log += (sizeof(log), (term = term, command = command));
      matchIndex[me] = sizeof(log);
      Advance();
      Replicate();
    }
    on eHeartbeat do {
      Replicate();
    }
    on eAppendReply do (reply: tAppendReply) {
      if (reply.term > term) {
        Observe(reply.term);
        goto Follower;
      }
      if (reply.term < term) {
        return;
      }
      if (reply.success) {
        if (reply.matchIndex > matchIndex[reply.server]) {
          matchIndex[reply.server] = reply.matchIndex;
          nextIndex[reply.server] = reply.matchIndex + 1;
          Advance();
        }
      } else if (nextIndex[reply.server] > 1) {
        nextIndex[reply.server] = nextIndex[reply.server] - 1;
        SendAppend(reply.server);
      }
    }
    on eVoteRequest do (request: tVoteRequest) {
      var falls: bool;
      falls = request.term > term;
      Observe(request.term);
      AnswerVote(request);
      if (falls) {
        goto Follower;
      }
    }
    on eAppend do (append: tAppend) {
      assert append.term != term, format("two leaders in term {0}", term);
      if (append.term > term) {
        Observe(append.term);
        AnswerAppend(append);
        goto Follower;
      }
      AnswerAppend(append);
    }
    on eVote do (vote: tVote) {
      if (vote.term > term) {
        Observe(vote.term);
        goto Follower;
      }
    }
    ignore eElectionTimeout;
  }

  // A later term is news to everybody.
  fun Observe(other: int) {
    if (other > term) {
      term = other;
      votedFor = -1;
    }
  }

  fun LastTerm(): int {
    if (sizeof(log) == 0) {
      return 0;
    }
    return log[sizeof(log) - 1].term;
  }

  fun Broadcast() {
    var i: int;
    while (i < sizeof(servers)) {
      if (i != me) {
        send servers[i], eVoteRequest,
          (term = term, candidate = me, from = this, lastIndex = sizeof(log), lastTerm = LastTerm());
      }
      i = i + 1;
    }
  }

  fun MayVoteFor(request: tVoteRequest): bool {
    if (request.term < term || (votedFor != -1 && votedFor != request.candidate)) {
      return false;
    }
    return request.lastTerm > LastTerm()
      || (request.lastTerm == LastTerm() && request.lastIndex >= sizeof(log));
  }

  fun AnswerVote(request: tVoteRequest) {
    var granted: bool;
    granted = MayVoteFor(request);
    if (granted) {
      votedFor = request.candidate;
    }
    send request.from, eVote, (term = term, voter = me, granted = granted);
  }

  fun AnswerAppend(append: tAppend) {
    var i: int;
    var index: int;
    if (append.term < term || append.previousIndex > sizeof(log)
      || (append.previousIndex > 0 && log[append.previousIndex - 1].term != append.previousTerm)) {
      send append.from, eAppendReply, (term = term, server = me, success = false, matchIndex = 0);
      return;
    }
    index = append.previousIndex;
    while (i < sizeof(append.entries)) {
      if (index < sizeof(log) && log[index].term != append.entries[i].term) {
        while (sizeof(log) > index) {
          log -= (sizeof(log) - 1);
        }
      }
      if (index == sizeof(log)) {
        log += (index, append.entries[i]);
      }
      index = index + 1;
      i = i + 1;
    }
    if (append.commitIndex > commitIndex) {
      Commit(append.commitIndex, index);
    }
    send append.from, eAppendReply, (term = term, server = me, success = true, matchIndex = index);
  }

  // Commits up to an index, but not beyond what is known to be the leader's.
  fun Commit(upTo: int, known: int) {
    while (commitIndex < upTo && commitIndex < known) {
      commitIndex = commitIndex + 1;
      announce eApply, (server = me, index = commitIndex, command = log[commitIndex - 1].command);
    }
  }

  fun SendAppend(i: int) {
    var previous: int;
    var previousTerm: int;
    var at: int;
    var entries: seq[tEntry];
    previous = nextIndex[i] - 1;
    if (previous > 0) {
      previousTerm = log[previous - 1].term;
    }
    at = previous;
    while (at < sizeof(log)) {
      entries += (sizeof(entries), log[at]);
      at = at + 1;
    }
    send servers[i], eAppend, (term = term, leader = me, from = this, previousIndex = previous,
      previousTerm = previousTerm, entries = entries, commitIndex = commitIndex);
  }

  fun Replicate() {
    var i: int;
    while (i < sizeof(servers)) {
      if (i != me) {
        SendAppend(i);
      }
      i = i + 1;
    }
  }

  // Commits what a majority has, if it is of this term.
  fun Advance() {
    var candidate: int;
    var i: int;
    var count: int;
    candidate = sizeof(log);
    while (candidate > commitIndex && log[candidate - 1].term == term) {
      count = 0;
      i = 0;
      while (i < sizeof(servers)) {
        if (matchIndex[i] >= candidate) {
          count = count + 1;
        }
        i = i + 1;
      }
      if (count * 2 > sizeof(servers)) {
        Commit(candidate, candidate);
        return;
      }
      candidate = candidate - 1;
    }
  }
}

// Fires timeouts and heartbeats and sends commands, in any order, to anyone.
machine World {
  var servers: seq[machine];
  var timeouts: int;
  var heartbeats: int;
  var commands: int;

  start state Run {
    entry (setup: (servers: seq[machine], timeouts: int, heartbeats: int, commands: int)) {
      servers = setup.servers;
      timeouts = setup.timeouts;
      heartbeats = setup.heartbeats;
      commands = setup.commands;
      while (timeouts + heartbeats + commands > 0) {
        Act();
      }
    }
  }

  fun Act() {
    var server: machine;
    var kind: int;
    kind = choose(3);
    server = choose(servers);
    if (kind == 0 && timeouts > 0) {
      timeouts = timeouts - 1;
      send server, eElectionTimeout;
    } else if (kind == 1 && heartbeats > 0) {
      heartbeats = heartbeats - 1;
      send server, eHeartbeat;
    } else if (commands > 0) {
      commands = commands - 1;
      foreach (server in servers) {
        send server, eCommand, commands;
      }
    }
  }
}
