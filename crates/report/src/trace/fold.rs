//! Stretches of a run in which the same steps come again and again, with other values. The first and the last round are
//! shown; those between are one line. What a step does is compared, not with which values.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use allways_run::{Entry, MessageId, Trace};

/// Steps of one round.
const MAX_PERIOD: usize = 12;
/// Fewer rounds are shown as they are.
const MIN_ROUNDS: usize = 4;
/// Short runs are read as they are.
const MIN_FOLDED: usize = 8;

/// Rounds that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fold {
    /// The first and the last step that is left out, by index.
    pub first: usize,
    pub last: usize,
    /// Steps of one round.
    pub period: usize,
    pub n_rounds: usize,
}

/// Takes repeated rounds out of a list of steps. Returns them with the step before which each stands.
pub(super) fn fold(trace: &Trace, shown: &mut Vec<usize>, end: usize) -> Vec<(usize, Fold)> {
    let n = shown.partition_point(|&at| at < end);
    let signs: Vec<u64> = shown[..n].iter().map(|&at| sign(trace, at)).collect();
    let mut folds = Vec::new();
    let mut kept = Vec::with_capacity(shown.len());
    let mut at = 0;
    while at < n {
        let rounds = |period: usize| {
            let same = (at + period..n).take_while(|&i| signs[i] == signs[i - period]).count();
            same / period + 1
        };
        let best = (1..=MAX_PERIOD.min(n - at))
            .map(|period| (period, rounds(period)))
            .filter(|&(period, rounds)| rounds >= MIN_ROUNDS && (rounds - 2) * period >= MIN_FOLDED)
            // The shortest period among those that cover most.
            .max_by_key(|&(period, rounds)| (period * rounds, std::cmp::Reverse(period)));
        let Some((period, rounds)) = best else {
            kept.push(shown[at]);
            at += 1;
            continue;
        };
        let last_round = at + (rounds - 1) * period;
        kept.extend(&shown[at..at + period]);
        let fold =
            Fold { first: shown[at + period], last: shown[last_round - 1], period, n_rounds: rounds - 2 };
        folds.push((shown[last_round], fold));
        kept.extend(&shown[last_round..last_round + period]);
        at = last_round + period;
    }
    kept.extend(&shown[n..]);
    *shown = kept;
    folds
}

/// What a step does, without its values.
fn sign(trace: &Trace, at: usize) -> u64 {
    let step = &trace.steps[at];
    let mut hasher = DefaultHasher::new();
    let message = |id: &MessageId, tag: u8, hasher: &mut DefaultHasher| {
        let message = trace.message(*id);
        (tag, message.sender, &message.event, message.target, message.span.map(|span| span.start))
            .hash(hasher);
    };
    step.actor.hash(&mut hasher);
    for entry in &step.entries {
        match entry {
            Entry::Send { message: id, .. } => message(id, 1, &mut hasher),
            Entry::Arrive { message: id } => message(id, 2, &mut hasher),
            Entry::Announce { message: id, .. } => message(id, 3, &mut hasher),
            Entry::Dequeue { machine, event, .. } | Entry::Receive { machine, event, .. } => {
                (4u8, machine, event).hash(&mut hasher);
            }
            Entry::Statement { actor, span, .. } => (5u8, actor, span.start).hash(&mut hasher),
            Entry::Goto { .. } | Entry::Enter { .. } | Entry::Exit { .. } | Entry::Print { .. } => {}
            // Any of these is worth a look of its own, unless it is the same each time.
            other => (6u8, std::mem::discriminant(other)).hash(&mut hasher),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use allways_base::Idx;
    use allways_run::{ActorId, TraceStep};

    use super::*;

    /// A run in which these actors step.
    fn run(actors: &[usize]) -> Trace {
        let step = |&actor: &usize| TraceStep { actor: Some(ActorId::new(actor)), ..TraceStep::default() };
        Trace { steps: actors.iter().map(step).collect(), ..Trace::default() }
    }

    fn folded(actors: &[usize], end: usize) -> (Vec<usize>, Vec<(usize, Fold)>) {
        let trace = run(actors);
        let mut shown = (0..actors.len()).collect();
        let folds = fold(&trace, &mut shown, end);
        (shown, folds)
    }

    #[test]
    fn rounds_between_the_first_and_the_last_are_folded() {
        let mut actors = vec![7];
        (0..10).for_each(|_| actors.extend([1, 2]));
        actors.push(8);
        let (shown, folds) = folded(&actors, actors.len());
        assert_eq!(shown, [0, 1, 2, 19, 20, 21]);
        assert_eq!(folds, [(19, Fold { first: 3, last: 18, period: 2, n_rounds: 8 })]);
    }

    #[test]
    fn few_rounds_and_loops_stay() {
        let actors = [1, 2, 1, 2, 1, 2];
        assert_eq!(folded(&actors, 6), ((0..6).collect(), vec![]));
        let actors = [1; 40];
        assert_eq!(folded(&actors, 0), ((0..40).collect(), vec![]));
    }
}
