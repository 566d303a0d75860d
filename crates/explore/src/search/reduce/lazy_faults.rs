//! Lazy fault injection: a fault is decided when it can first be observed.
//!
//! A message is lost or duplicated, or a machine crashes, long before any machine can observe it. So the decision is postponed:
//!
//! - A message that may be lost is sent as an *optional* message: it need not arrive. One that may be duplicated is followed by an optional
//!   copy. Over `bag` an optional message can stay in flight for ever; over `fifo` and `causal` a message that would have to wait for it may
//!   overtake it, and then it is lost, as if it had never been sent. Each run with eager faults corresponds to a run here with the same arrivals in
//!   the same order, and vice versa: what never arrives was lost, a copy that never arrives was not made. Of equal
//!   messages in a `bag`, required ones arrive first, which leaves the optional ones.
//! - A crashed machine is one that takes no more steps, and messages to it stay in flight. No other machine observes a
//!   difference, so a crash is not a step. What the machine does with messages in its inbox, up to its next send, it also
//!   does in runs without the crash.
//!
//! What faults do make observable is that nothing happens any more. A configuration in which the only steps left are those of machines that can
//! crash, of messages to these, and of optional messages is *terminal* besides having successors: it ends a run in which the machines have crashed and the
//! messages are lost. A machine that waits there in `receive` is blocked for ever, unless a required message waits for it: then it is one of
//! the crashed ones.
//!
//! **Optional messages that change nothing need not arrive**: every run without the arrival is a run with it, and a terminal configuration
//! stays terminal. A copy whose arrival leaves its target unchanged is dropped, so programs with idempotent handlers pay for the first copy
//! only. Over `causal` the target also learns what the sender knew, but that only makes other messages wait.
//!
//! Over P's own network a message is in the inbox at once, so only crashes are lazy there.
//!
//! Confluent sends still come first (`confluent_sends`), since they commute with lossy arrivals: these concern the other end of the channel. The
//! exception are sends of a machine that can crash, because a run may end *before* such a send. In terminal configurations no other machine is about to
//! send, so the sends that came first are part of every run to them. A drop may lose nothing but the dropped message. One send of a machine that can
//! crash does come first: the one directly after an arrival at that machine. If the machine crashed between the two, all other machines and the
//! monitors are as if it had crashed before the arrival, and can continue from there; so of the runs after the
//! arrival only those are needed that perform the send, and these can begin with it.
//!
//! Preserves: local states of machines, except those of crashed ones; monitor states; violations; terminal configurations, up to
//! machines that can crash; whether infinite runs exist: faults are at most as many as messages and machines, so an infinite run
//! has infinitely many other steps. Does not preserve: lengths of runs, so a counterexample is searched for with eager faults; fairness
//! of infinite runs, so liveness is decided on the graph with eager faults.
