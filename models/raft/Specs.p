// What Raft promises.

// At most one leader in a term.
spec OneLeader observes eBecomeLeader {
  var leaders: map[int, int];

  start state Watch {
    on eBecomeLeader do (new_leader: (term: int, leader: int)) {
      if (new_leader.term in leaders) {
        assert leaders[new_leader.term] == new_leader.leader,
          format("term {0} has two leaders", new_leader.term);
      }
      leaders[new_leader.term] = new_leader.leader;
    }
  }
}

// All servers apply the same command at an index.
spec SameLog observes eApply {
  var applied: map[int, int];

  start state Watch {
    on eApply do (apply: (server: int, index: int, command: int)) {
      if (apply.index in applied) {
        assert applied[apply.index] == apply.command,
          format("server {0} applies {1} at {2} instead of {3}",
            apply.server, apply.command, apply.index, applied[apply.index]);
      } else {
        applied[apply.index] = apply.command;
      }
    }
  }
}
