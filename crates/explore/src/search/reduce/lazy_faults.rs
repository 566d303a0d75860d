//! Faults that are decided when they show.
//!
//! A message is lost, doubled, or a machine crashes long before anybody can tell. So nothing of that is decided early:
//!
//! - A message that may get lost is handed over *spare*: it need not arrive. One that may come twice is handed over with a spare copy
//!   right behind it. Over `bag` a spare message can lie there for ever; over `fifo` and `causal` what would have to wait for it may
//!   overtake it, and then it is lost, as if it never had been sent. Each run with faults where they happen has the same arrivals in
//!   the same order here, and the other way round: what never arrives was lost, a copy that never arrives was not made. Of equal
//!   messages in a `bag` those that are needed arrive first, which leaves the ones that need not.
//! - A machine that has crashed is one that does not step any more, and messages to it stay where they are. Nobody can tell the
//!   difference, so there is no step for a crash. What it does with messages in its inbox, up to where it would send, is something that
//!   it does in runs without the crash, too.
//!
//! What faults do show is that nothing happens any more. A configuration in which steps are left only to machines that can
//! crash, of messages to these, and of spare messages *is an end* besides having successors: of a run in which the former have crashed and the
//! latter are lost. Who waits there in `receive` waits for ever, unless something that is needed waits for it: then it is one of
//! those that have crashed.
//!
//! **Spare messages that change nothing need not arrive**: what can be done without one can be done with it, and whatever is
//! an end without it is an end with it. A copy that finds its target as it leaves it is of no account, so that programs which handle
//! messages more than once without harm pay for the first only. Over `causal` the target also learns what the sender knew,
//! but that only makes others wait.
//!
//! Over P's own network a message is in the inbox at once, so there only crashes are late.
//!
//! Confluent sends stay first (`confluent_sends`), since they commute with arrivals that lose something likewise: these concern what
//! is at the other end. But not those of a machine that can crash: an end is where it has *not* sent. In ends nobody else is about to
//! send, so the confluent sends that were put first are part of each run to them. A drop may lose nothing but what is dropped. There is one
//! exception: one confluent send right after an arrival at that machine. Where it has crashed between the two, everybody else and the
//! monitors stand as if it had crashed before the arrival, and can go on as from there; so of the runs behind the
//! arrival only those are needed in which the confluent send is made, and these can begin with it.
//!
//! Preserved: local states of machines, apart from that of one that has crashed; monitor states; violations; ends, but for
//! machines that can crash. Whether there are infinite runs: faults are as many as messages and machines, so that in an infinite run there
//! are infinitely many other steps. Not preserved: lengths of runs, so a way to a violation is looked for with faults where they
//! happen; what infinite runs are fair to, so liveness is looked at in that graph, too.

use allways_machine::Executable;

/// Whether there are faults that can be late.
pub(crate) fn are_there(exe: &Executable) -> bool {
    exe.network.has_crashes() || exe.network.is_delayed() && exe.network.has_faults()
}
