//! From steps that seem to repeat to a lasso that does: the kernel runs the stem, and then the lap twice.
//!
//! Three kinds of laps can be repeated for ever.
//! - *Repetition*: after the lap everything stands as before, up to what is never read (`allways_machine::simplify`).
//! - *Pumping*, where the network keeps no order: the machines stand as before, and what was in flight still is. A message
//!   more in flight takes no step away, so the lap can be made again, and again leaves as much more (Karp and Miller, 1969).
//! - *Growth*, where order counts: some inboxes or channels are longer by a suffix. The lap is made twice, step by step, and an
//!   induction on the number of laps holds for each buffer that grows, if either
//!   1. no message that waited at the beginning of the lap is taken in it, and with the suffix in place the second lap goes
//!      exactly like the first, so that each look into the inbox passes over each of its messages; or
//!   2. messages are taken from the front only, the machine never runs out of them, and with `w` waiting at first, `p` taken and `q` put
//!      behind in a lap, `w q q q ...` equals `p p p ...` (Jéron and Jard, 1993): each lap takes the same messages.

use std::sync::Arc;

use allways_machine::content::words;
use allways_machine::encode::encode_message;
use allways_machine::ir::EventId;
use allways_machine::{
    Executable, Kernel, KnownValues, Message, Note, Outcome, Recorder, Scene, Simplify, Status,
};
use allways_run::{Choice, InstanceId, Limits, NetworkModel};

use crate::error::InternalError;
use crate::search::counterexample::StepName;
use crate::search::local::states::{Given, forget_before_fault};

/// Why a lap can be repeated for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Certificate {
    Repeats,
    /// These buffers are longer after each lap.
    Grows(Vec<Pile>),
}

/// A step by name; where messages are known by what they are, with the bytes of the one that arrives.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub name: StepName,
    pub bytes: Option<Vec<u8>>,
}

/// Messages of one event that a lap adds to a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pile {
    /// Of a channel; none for an inbox.
    pub source: Option<InstanceId>,
    pub target: InstanceId,
    pub event: EventId,
    pub n_each_lap: usize,
}

/// Where everything stands, up to what is never read.
#[derive(Clone, PartialEq, Debug)]
struct View {
    machines: Vec<MachineView>,
    monitors: Vec<Vec<u64>>,
    /// The messages in flight, channels in order.
    channels: Vec<ChannelView>,
    /// Under causal order, what is in flight and what machines know of it.
    causal: Vec<u8>,
}

#[derive(Clone, PartialEq, Debug)]
struct MachineView {
    instance: InstanceId,
    /// It stands before an effect.
    is_pending: bool,
    /// All but the inbox.
    frame: Vec<u64>,
    inbox: Vec<Message>,
}

#[derive(Clone, PartialEq, Debug)]
struct ChannelView {
    source: InstanceId,
    target: InstanceId,
    messages: Vec<Message>,
}

/// How many messages reached each inbox in a step.
#[derive(Default)]
struct Arrivals {
    is_delayed: bool,
    reached: Vec<InstanceId>,
}

impl Recorder for Arrivals {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        match note {
            Note::Send { machine, target, .. } if machine == target || !self.is_delayed => {
                self.reached.push(target);
            }
            Note::Arrive { target, .. } => self.reached.push(target),
            Note::Lose { .. } if !self.is_delayed => drop(self.reached.pop()),
            Note::Duplicate { target, .. } if !self.is_delayed => self.reached.push(target),
            _ => {}
        }
    }
}

/// A step of a lap: what moved, and how everything stood after it.
struct Made {
    choice: Choice,
    reached: Vec<InstanceId>,
    after: View,
}

/// Runs a lasso.
pub(crate) struct Runner<'a> {
    pub kernel: Kernel<'a>,
    known: KnownValues,
    simplify: Simplify,
    /// The steps of the last lap that was made.
    pub last_lap: Vec<StepName>,
}

impl<'a> Runner<'a> {
    /// Makes the steps of a stem.
    ///
    /// # Errors
    /// When the kernel does not agree that they can be made.
    pub fn new(
        exe: &Arc<Executable>,
        limits: Limits,
        simplify: Simplify,
        stem: &[StepName],
    ) -> Result<Self, InternalError> {
        let kernel = crate::search::counterexample::run(exe, limits, stem)?;
        Ok(Runner { kernel, known: KnownValues::default(), simplify, last_lap: Vec::new() })
    }

    /// Makes the steps of a stem that may not be possible; none if it is not.
    pub fn guess(exe: &Arc<Executable>, limits: Limits, simplify: Simplify, stem: &[Named]) -> Option<Self> {
        let kernel = Kernel::new(exe.clone(), limits);
        let mut runner = Runner { kernel, known: KnownValues::default(), simplify, last_lap: Vec::new() };
        stem.iter().all(|step| runner.take(step).is_some()).then_some(runner)
    }

    /// Makes a step, if it is possible; its choice.
    fn take(&mut self, step: &Named) -> Option<Choice> {
        let choice = match (step.name.choice, &step.bytes) {
            (Choice::Deliver { target, source, .. }, Some(bytes)) => {
                let exe = self.kernel.executable().clone();
                let is_it = |message: Message| {
                    let mut found = Vec::new();
                    encode_message(&exe, self.kernel.store(), message, &mut found);
                    found == *bytes
                };
                let place = self.place_of(source, target, is_it)?;
                Choice::Deliver { target, source, place }
            }
            (choice, _) => choice,
        };
        let mut answers = Given { answers: &step.name.answers, at: 0 };
        self.kernel.take(choice, &mut answers, &mut allways_machine::Silent).ok()?;
        self.kernel.is_running().then_some(choice)
    }

    /// The lap of steps that may not be possible, as the kernel can make it from here, if it can. Nothing is moved.
    pub fn possible(&mut self, lap: &[Named]) -> Option<Vec<StepName>> {
        let home = self.kernel.save();
        let made: Option<Vec<StepName>> = lap
            .iter()
            .map(|step| {
                let choice = self.take(step)?;
                Some(StepName { choice, answers: step.name.answers.clone() })
            })
            .collect();
        self.kernel.restore(&home);
        made
    }

    /// Whether the lap can be made from here for ever, and why. The kernel stands after one lap then.
    ///
    /// # Errors
    /// When a step of the first lap cannot be made.
    pub fn certify(&mut self, lap: &[StepName]) -> Result<Option<Certificate>, InternalError> {
        let home = self.kernel.save();
        let start = self.view();
        let names = self.by_message(lap)?;
        let first = self.lap(&names).ok_or_else(|| InternalError::differs("a lap", self.kernel.outcome()))?;
        let here = self.kernel.save();
        let Some(last) = first.last() else { return Ok(None) };
        let certificate = if last.after == start {
            let again =
                self.lap(&names).is_some_and(|again| again.last().map(|made| &made.after) == Some(&start));
            again.then_some(Certificate::Repeats)
        } else if self.kernel.executable().network.model == NetworkModel::Bag {
            self.pumps(&start, &last.after, &names)
        } else {
            self.lap(&names).and_then(|second| grows(self.kernel.executable(), &start, &first, &second))
        };
        // The schedule of one lap is what is shown.
        self.kernel.restore(if certificate.is_some() { &here } else { &home });
        Ok(certificate)
    }

    /// The steps of a lap, with messages by what they are instead of by their place in a channel. Nothing is moved.
    fn by_message(&mut self, lap: &[StepName]) -> Result<Vec<(StepName, Option<Message>)>, InternalError> {
        let home = self.kernel.save();
        let mut named = Vec::new();
        for step in lap {
            let message = match step.choice {
                Choice::Deliver { target, source, place } => {
                    let mut flight = self.kernel.configuration().network.clone();
                    let model = self.kernel.executable().network.model;
                    flight.position(source, target).and_then(|at| flight.deliver(model, at, place))
                }
                Choice::Machine(_) | Choice::Crash(_) | Choice::Data(_) => None,
            };
            let mut answers = Given { answers: &step.answers, at: 0 };
            if self.kernel.take(step.choice, &mut answers, &mut allways_machine::Silent).is_err()
                || !self.kernel.is_running()
            {
                return Err(InternalError::differs("a step of a lap", self.kernel.outcome()));
            }
            named.push((step.clone(), message));
        }
        self.kernel.restore(&home);
        Ok(named)
    }

    /// Makes a lap; none if that is not possible.
    fn lap(&mut self, steps: &[(StepName, Option<Message>)]) -> Option<Vec<Made>> {
        let mut made = Vec::new();
        self.last_lap.clear();
        let is_delayed = self.kernel.executable().network.is_delayed();
        for (step, message) in steps {
            let choice = match (step.choice, message) {
                (Choice::Deliver { target, source, .. }, Some(message)) => {
                    let place = self.place_of(source, target, |it| it == *message)?;
                    Choice::Deliver { target, source, place }
                }
                (choice, _) => choice,
            };
            self.last_lap.push(StepName { choice, answers: step.answers.clone() });
            let mut arrivals = Arrivals { is_delayed, reached: Vec::new() };
            let mut answers = Given { answers: &step.answers, at: 0 };
            self.kernel.take(choice, &mut answers, &mut arrivals).ok()?;
            let Outcome::Running = self.kernel.outcome() else { return None };
            if answers.at != step.answers.len() {
                return None;
            }
            made.push(Made { choice, reached: arrivals.reached, after: self.view() });
        }
        Some(made)
    }

    /// Where a message stands among the different ones of its channel.
    fn place_of(
        &self,
        source: InstanceId,
        target: InstanceId,
        is_it: impl Fn(Message) -> bool,
    ) -> Option<u32> {
        let flight = &self.kernel.configuration().network;
        let model = self.kernel.executable().network.model;
        let at = flight.position(source, target)?;
        let arrives = |place: &u32| flight.clone().deliver(model, at, *place).is_some_and(&is_it);
        (0..flight.n_picks(model, at)).find(arrives)
    }

    fn pumps(
        &mut self,
        start: &View,
        end: &View,
        names: &[(StepName, Option<Message>)],
    ) -> Option<Certificate> {
        if start.machines != end.machines || start.monitors != end.monitors {
            return None;
        }
        let mut piles = Vec::new();
        for channel in &end.channels {
            let before = start.channel(channel.source, channel.target);
            let mut more = channel.messages.clone();
            for message in before {
                more.swap_remove(more.iter().position(|it| it == message)?);
            }
            add_piles(&mut piles, Some(channel.source), channel.target, &more);
        }
        let is_kept = |channel: &ChannelView| {
            end.channel(channel.source, channel.target).len() >= channel.messages.len()
        };
        if !start.channels.iter().all(is_kept) {
            return None;
        }
        let second = self.lap(names)?;
        let is_same = second.last().is_some_and(|made| made.after.machines == end.machines);
        is_same.then_some(Certificate::Grows(piles))
    }

    fn view(&mut self) -> View {
        let conf = self.kernel.configuration();
        let mut instances: Vec<InstanceId> = conf.roster.iter().collect();
        instances.sort_unstable();
        let locals: Vec<_> =
            instances.iter().map(|&instance| (instance, conf.local(instance).clone())).collect();
        let monitors = conf.monitors.clone();
        let mut channels: Vec<ChannelView> = conf
            .network
            .channels
            .iter()
            .filter(|channel| !channel.messages.is_empty())
            .map(|channel| ChannelView {
                source: channel.source,
                target: channel.target,
                messages: channel.messages.iter().map(|sent| sent.message).collect(),
            })
            .collect();
        channels.sort_unstable_by_key(|channel| (channel.target, channel.source));
        let exe = self.kernel.executable().clone();
        let mut causal = Vec::new();
        if exe.network.model == NetworkModel::Causal {
            let store = self.kernel.store();
            allways_machine::encode::encode_in_flight(&exe, store, &conf.network, &mut causal);
        }
        let mut machines = Vec::with_capacity(locals.len());
        for (instance, mut local) in locals {
            forget_before_fault(&mut local);
            self.kernel.simplify(&mut local, self.simplify, &mut self.known);
            let inbox: Vec<Message> = local.inbox.drain(..).collect();
            let is_pending = matches!(local.status, Status::Pending(_));
            let mut frame = Vec::new();
            words(&local, &mut frame);
            machines.push(MachineView { instance, is_pending, frame, inbox });
        }
        let monitors = monitors
            .into_iter()
            .map(|mut local| {
                self.kernel.simplify(&mut local, self.simplify, &mut self.known);
                let mut frame = Vec::new();
                words(&local, &mut frame);
                frame
            })
            .collect();
        View { machines, monitors, channels, causal }
    }
}

impl View {
    fn channel(&self, source: InstanceId, target: InstanceId) -> &[Message] {
        let found = self.channels.iter().find(|it| it.source == source && it.target == target);
        found.map_or(&[], |channel| &channel.messages)
    }

    /// The same but for inboxes and channels.
    fn stands_like(&self, other: &View) -> bool {
        self.monitors == other.monitors
            && self.machines.len() == other.machines.len()
            && self
                .machines
                .iter()
                .zip(&other.machines)
                .all(|(a, b)| a.instance == b.instance && a.frame == b.frame)
    }
}

fn add_piles(piles: &mut Vec<Pile>, source: Option<InstanceId>, target: InstanceId, more: &[Message]) {
    for message in more {
        let known = piles
            .iter_mut()
            .find(|pile| pile.source == source && pile.target == target && pile.event == message.event);
        match known {
            Some(pile) => pile.n_each_lap += 1,
            None => piles.push(Pile { source, target, event: message.event, n_each_lap: 1 }),
        }
    }
}

/// Whether two laps in a row show that there can be any number of them.
fn grows(exe: &Executable, start: &View, first: &[Made], second: &[Made]) -> Option<Certificate> {
    let end = &first.last()?.after;
    // What is known of channels that only grow would have to be compared, too.
    if exe.network.model == NetworkModel::Causal || !start.stands_like(end) {
        return None;
    }
    if !first.iter().zip(second).all(|(a, b)| a.choice == b.choice && a.after.stands_like(&b.after)) {
        return None;
    }
    let mut piles = Vec::new();
    for at in 0..start.machines.len() {
        let inboxes = |from: &View, lap: &[Made]| -> Vec<Vec<Message>> {
            let views = [from].into_iter().chain(lap.iter().map(|made| &made.after));
            views.map(|view| view.machines[at].inbox.clone()).collect()
        };
        let target = start.machines[at].instance;
        let n_reached = |lap: &[Made]| -> Vec<usize> {
            lap.iter().map(|made| made.reached.iter().filter(|&&it| it == target).count()).collect()
        };
        let never_rests = start.machines[at].is_pending
            && first.iter().chain(second).all(|made| made.after.machines[at].is_pending);
        let more = suffix(&inboxes(start, first), &inboxes(end, second), |lap| {
            let (contents, n_reached) = match lap {
                0 => (inboxes(start, first), n_reached(first)),
                _ => (inboxes(end, second), n_reached(second)),
            };
            never_rests.then(|| taken_and_added(&contents, &n_reached)).flatten()
        })?;
        add_piles(&mut piles, None, target, &more);
    }
    let mut names: Vec<(InstanceId, InstanceId)> = Vec::new();
    for view in [start].into_iter().chain(first.iter().chain(second).map(|made| &made.after)) {
        for channel in &view.channels {
            if !names.contains(&(channel.source, channel.target)) {
                names.push((channel.source, channel.target));
            }
        }
    }
    for (source, target) in names {
        let contents = |from: &View, lap: &[Made]| -> Vec<Vec<Message>> {
            let views = [from].into_iter().chain(lap.iter().map(|made| &made.after));
            views.map(|view| view.channel(source, target).to_vec()).collect()
        };
        let is_from = |made: &Made| matches!(made.choice, Choice::Deliver { target: to, source: from, .. } if to == target && from == source);
        let more = suffix(&contents(start, first), &contents(end, second), |lap| {
            let (contents, lap) = match lap {
                0 => (contents(start, first), first),
                _ => (contents(end, second), second),
            };
            // What is brought leaves at the front, what is sent comes behind.
            let n_sent: Option<Vec<usize>> = contents
                .windows(2)
                .zip(lap)
                .map(|(pair, made)| (pair[1].len() + usize::from(is_from(made))).checked_sub(pair[0].len()))
                .collect();
            taken_and_added(&contents, &n_sent?)
        })?;
        add_piles(&mut piles, Some(source), target, &more);
    }
    Some(if piles.is_empty() { Certificate::Repeats } else { Certificate::Grows(piles) })
}

/// The suffix by which a buffer grows in every lap; none if that cannot be shown. `first` and `second` are its contents
/// through two laps; `queue` says, of the first and of the second lap, what is taken and what is added if it is a queue.
fn suffix(
    first: &[Vec<Message>],
    second: &[Vec<Message>],
    queue: impl Fn(usize) -> Option<(Vec<Message>, Vec<Message>)>,
) -> Option<Vec<Message>> {
    let (waits, end) = (first.first()?, first.last()?);
    let more = end.strip_prefix(waits.as_slice())?;
    if more.is_empty() && first == second {
        return Some(Vec::new());
    }
    // 1. What waited and what is added are passed over.
    let is_passed_over = first.iter().zip(second).all(|(before, after)| {
        before.strip_prefix(waits.as_slice()).is_some_and(|rest| {
            let [n, m] = [waits.len(), waits.len() + more.len()];
            after.len() == before.len() + more.len()
                && after[..n] == waits[..]
                && after[n..m] == *more
                && after[m..] == *rest
        })
    });
    if is_passed_over {
        return Some(more.to_vec());
    }
    // 2. Each lap takes the same messages from the front.
    let (taken, added) = queue(0)?;
    if queue(1)? != (taken.clone(), added.clone()) || taken.is_empty() || added.len() < taken.len() {
        return None;
    }
    let n = waits.len() + taken.len() + added.len();
    let supply = waits.iter().chain(added.iter().cycle());
    let is_periodic = supply.zip(taken.iter().cycle()).take(n).all(|(a, b)| a == b);
    is_periodic.then(|| more.to_vec())
}

/// What a queue with these contents gives from its front, and what comes behind; so many come in each step. None if it is
/// no queue, or empties in a step.
fn taken_and_added(contents: &[Vec<Message>], n_added: &[usize]) -> Option<(Vec<Message>, Vec<Message>)> {
    let (mut taken, mut added) = (Vec::new(), Vec::new());
    for (pair, &n_added) in contents.windows(2).zip(n_added) {
        let (before, after) = (&pair[0], &pair[1]);
        let n_taken = (before.len() + n_added).checked_sub(after.len())?;
        let kept = before.get(n_taken..)?;
        let new = after.strip_prefix(kept)?;
        taken.extend_from_slice(&before[..n_taken]);
        added.extend_from_slice(new);
    }
    Some((taken, added))
}

#[cfg(test)]
mod tests {
    use allways_machine::Value;

    use super::*;

    fn word(text: &str) -> Vec<Message> {
        text.bytes()
            .map(|byte| Message { event: EventId::from_u32(byte.into()), payload: Value::NULL })
            .collect()
    }

    fn words_of(texts: &[&str]) -> Vec<Vec<Message>> {
        texts.iter().map(|text| word(text)).collect()
    }

    #[test]
    fn what_is_deferred_piles_up() {
        let found =
            suffix(&words_of(&["d", "dm", "d", "du"]), &words_of(&["du", "dum", "du", "duu"]), |_| None);
        assert_eq!(found, Some(word("u")));
        // The suffix is taken in the second lap.
        assert_eq!(suffix(&words_of(&["", "u"]), &words_of(&["u", "", "u"]), |_| None), None);
    }

    #[test]
    fn a_queue_repeats_when_it_is_periodic() {
        let queue = |texts: &[&str], n: &[usize]| taken_and_added(&words_of(texts), n);
        // Two come, one goes.
        let (first, second) = (["a", "aa", "aaa", "aa"], ["aa", "aaa", "aaaa", "aaa"]);
        let laps = [first, second];
        let found = suffix(&words_of(&first), &words_of(&second), |lap| queue(&laps[lap], &[1, 1, 0]));
        assert_eq!(found, Some(word("a")));
        // After `a` comes `b`, and then no `a` is left to take.
        let (first, second) = (["a", "ab", "abb", "bb"], ["bb", "bbb", "bbbb", "bbb"]);
        let laps = [first, second];
        assert_eq!(suffix(&words_of(&first), &words_of(&second), |lap| queue(&laps[lap], &[1, 1, 0])), None);
    }

    #[test]
    fn a_stack_is_no_queue() {
        assert_eq!(taken_and_added(&words_of(&["ab", "a"]), &[0]), None);
        assert_eq!(taken_and_added(&words_of(&["ab", "bc"]), &[1]), Some((word("a"), word("c"))));
    }
}
