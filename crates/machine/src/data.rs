//! Chosen numbers that a program cannot tell apart (data independence; Wolper 1986).
//!
//! `choose(100)` has a hundred answers, but a program that only stores, sends and returns the number behaves the same for all of
//! them. A [`DataPlan`] divides the numbers of each `choose` of a constant into blocks. Numbers of one block are taken to be
//! equivalent, so that one of them represents the block. A block of several numbers yields an *atom*: a value that carries
//! its number and its class. Every operation that could tell two numbers of a block apart reports what it needs:
//!
//! - arithmetic, indexing, texts: all numbers of the class ([`Fact::Numbers`]),
//! - comparison with a constant: a finer division at that constant ([`Fact::Cut`]),
//! - comparison with another atom of the class: from which choice each of the two comes ([`Fact::Names`]). Then atoms have *names*: the machine that
//!   chose, and how many it had chosen before. What comes from one choice is equal, whichever number that is; only where two choices meet
//!   do all numbers count. So what was written can be compared with what is read.
//!
//! A search in which something was reported counts for nothing; it is repeated with the plan that [`DataPlan::refined`] returns. A
//! search without reports is complete: replace every chosen number of any run by the representative of its block, and all
//! operations of the run have the same results. Violations need no argument: representatives are answers like others, and
//! a schedule that was found with them replays without any plan.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use allways_run::InstanceId;

use crate::Executable;
use crate::ir::{Op, OperandView};
use crate::value::{Value, View};

/// A class that is divided more finely than this is enumerated.
const MAX_CUTS: usize = 64;

/// Of the class of an atom, the bits that say which `choose` it comes from; those above are its name.
const SITE_BITS: u32 = 10;
const ORDINAL_BITS: u32 = 12;
/// Machines that give names.
const MAX_PICKERS: usize = (1 << (28 - SITE_BITS - ORDINAL_BITS)) - 1;
/// Fewer numbers are enumerated at once: names make a program that chooses for ever take as many turns as there are numbers, and some.
const MIN_NAMED: u32 = 4;
const MORE_TURNS: u32 = 8;

/// The `choose` that an atom comes from.
fn site_of(class: u32) -> u32 {
    class & ((1 << SITE_BITS) - 1)
}

/// Where a report of classes divides one whose atoms need names: no division is there.
const AT_NAMES: u32 = 0;

/// The choice that an atom comes from; zero if it has no name.
fn name_of(class: u32) -> u32 {
    class >> SITE_BITS
}

/// Whether a value is an atom with a name, so that it equals its copies whichever number it is.
pub(crate) fn is_named(value: Value) -> bool {
    matches!(value.view(), View::Atom(class, _) if name_of(class) != 0)
}

/// What an operation needs to know of the numbers of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fact {
    Numbers(u32),
    /// Numbers below and from this one on differ.
    Cut(u32, u32),
    /// Atoms of different choices differ.
    Names(u32),
}

/// The choice that an atom with a name comes from: which `choose`, of which machine, and how many that had named before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub site: u32,
    pub machine: InstanceId,
    pub ordinal: u32,
}

impl Origin {
    /// Whether it may have been read from bytes.
    pub fn is_valid(self) -> bool {
        self.site < 1 << SITE_BITS && self.ordinal < (1 << ORDINAL_BITS) - 1
    }
}

/// A `choose` of a constant number. Each is a class of its own.
#[derive(Debug)]
struct Site {
    pc: u32,
    /// Its answers are below this.
    n: u32,
    /// All answers are distinguished.
    is_enumerated: bool,
    /// Atoms have names.
    is_named: bool,
    /// Where blocks begin, without zero, ascending.
    cuts: Vec<u32>,
    /// The first number of each block, or all.
    answers: Arc<[u32]>,
}

impl Site {
    fn new(pc: u32, n: u32, is_enumerated: bool, is_named: bool, cuts: Vec<u32>) -> Self {
        let answers = if is_enumerated {
            (0..n).collect()
        } else {
            std::iter::once(0).chain(cuts.iter().copied()).collect()
        };
        Site { pc, n, is_enumerated, is_named: is_named && !is_enumerated, cuts, answers }
    }

    /// Whether the block of a number has no other.
    fn is_alone(&self, number: u32) -> bool {
        let next = self.cuts.partition_point(|&cut| cut <= number);
        let first = next.checked_sub(1).map_or(0, |at| self.cuts[at]);
        let end = self.cuts.get(next).copied().unwrap_or(self.n);
        end - first == 1
    }
}

/// Which answers of `choose` represent all others; see the module.
#[derive(Debug)]
pub struct DataPlan {
    /// By program counter.
    sites: Vec<Site>,
    /// The search can do with names.
    allows_names: bool,
    /// Machines that have named a choice.
    pickers: Mutex<Vec<InstanceId>>,
    learned: Mutex<BTreeSet<Fact>>,
    has_learned: AtomicBool,
}

impl DataPlan {
    /// The coarsest plan, in which all numbers of a `choose` are equivalent; `None` if a program chooses among no
    /// constant number of them. Names are for searches in which a machine keeps its own.
    pub fn coarsest(exe: &Executable, allows_names: bool) -> Option<Arc<DataPlan>> {
        let number = |op: &Op| match *op {
            Op::Choose { src, .. } => match src.view() {
                OperandView::Const(at) => exe.store.as_int(exe.consts[at as usize]),
                OperandView::Register(_) | OperandView::Field(_) => None,
            },
            _ => None,
        };
        let sites: Vec<Site> = (0..)
            .zip(&exe.code)
            .filter_map(|(pc, op)| Some((pc, u32::try_from(number(op)?).ok()?)))
            .filter(|&(_, n)| n > 1)
            .map(|(pc, n)| Site::new(pc, n, false, false, Vec::new()))
            .take(1 << SITE_BITS)
            .collect();
        (!sites.is_empty()).then(|| Arc::new(DataPlan::of(sites, allows_names)))
    }

    fn of(sites: Vec<Site>, allows_names: bool) -> Self {
        let (pickers, learned) = (Mutex::default(), Mutex::default());
        DataPlan { sites, allows_names, pickers, learned, has_learned: AtomicBool::new(false) }
    }

    /// Whether something was reported, so that the search counts for nothing.
    pub fn has_learned(&self) -> bool {
        self.has_learned.load(Ordering::Relaxed)
    }

    /// The plan with all that was reported. It differs from this one if anything was.
    pub fn refined(&self) -> Arc<DataPlan> {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let sites = (0..).zip(&self.sites).map(|(class, site)| {
            let mut cuts: BTreeSet<u32> = site.cuts.iter().copied().collect();
            let (mut is_enumerated, mut is_named) = (site.is_enumerated, site.is_named);
            for fact in learned.iter() {
                match *fact {
                    Fact::Numbers(of) => is_enumerated |= of == class,
                    Fact::Cut(of, at) if of == class => _ = cuts.insert(at),
                    Fact::Cut(..) => {}
                    Fact::Names(of) => is_named |= of == class,
                }
            }
            is_enumerated |= cuts.len() > MAX_CUTS;
            Site::new(site.pc, site.n, is_enumerated, is_named, cuts.into_iter().collect())
        });
        Arc::new(DataPlan::of(sites.collect(), self.allows_names))
    }

    /// Which numbers are distinguished where: equal for plans that take the same numbers to be equivalent.
    pub fn label(&self) -> String {
        let site =
            |site: &Site| format!("{}:{}:{}:{:?}", site.pc, site.is_enumerated, site.is_named, site.cuts);
        self.sites.iter().map(site).collect::<Vec<_>>().join(" ")
    }

    /// Whether atoms have names, so that machines must keep theirs.
    pub fn has_names(&self) -> bool {
        self.sites.iter().any(|site| site.is_named)
    }

    /// What was reported, for other processes: the class, and where it has to be divided; nowhere means that all its numbers count.
    pub fn reports(&self) -> Vec<(u32, Option<u32>)> {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let report = |fact: &Fact| match *fact {
            Fact::Numbers(class) => (class, None),
            Fact::Cut(class, at) => (class, Some(at)),
            Fact::Names(class) => (class, Some(AT_NAMES)),
        };
        learned.iter().map(report).collect()
    }

    /// Adds what other processes have reported.
    pub fn add_reports(&self, reports: &[(u32, Option<u32>)]) {
        for &(class, at) in reports {
            self.learn(match at {
                None => Fact::Numbers(class),
                Some(AT_NAMES) => Fact::Names(class),
                Some(at) => Fact::Cut(class, at),
            });
        }
    }

    /// Whether no number is left out, so that the plan can be left out, too.
    pub fn is_trivial(&self) -> bool {
        self.sites.iter().all(|site| site.answers.len() == site.n as usize)
    }

    /// How many answers are left out, over all places.
    pub fn n_left_out(&self) -> u64 {
        self.sites.iter().map(|site| u64::from(site.n) - site.answers.len() as u64).sum()
    }

    fn site(&self, pc: u32) -> Option<usize> {
        self.sites.binary_search_by_key(&pc, |site| site.pc).ok()
    }

    /// The answers to the choice at a place that represent all others; `None` if all count.
    pub fn answers(&self, pc: u32) -> Option<Arc<[u32]>> {
        let site = &self.sites[self.site(pc)?];
        (!site.is_enumerated).then(|| site.answers.clone())
    }

    /// The value of an answer to the choice at a place, if it is an atom.
    pub(crate) fn atom(&self, pc: u32, number: u32) -> Option<Value> {
        let class = self.site(pc)?;
        let site = &self.sites[class];
        let is_plain = site.is_enumerated || number >= site.n || site.is_alone(number);
        (!is_plain).then(|| Value::atom(class as u32, number))
    }

    /// The atom of an answer with the name of its choice, if choices at its place have names. The machine has named `n_named` of them.
    pub(crate) fn named(&self, atom: Value, machine: InstanceId, n_named: &mut u32) -> Value {
        let View::Atom(class, number) = atom.view() else { return atom };
        let Some(site) = self.sites.get(site_of(class) as usize).filter(|site| site.is_named) else {
            return atom;
        };
        let most = (site.n + MORE_TURNS).min((1 << ORDINAL_BITS) - 1);
        if *n_named >= most {
            self.need_numbers(class);
            return atom;
        }
        let origin = Origin { site: class, machine, ordinal: *n_named };
        *n_named += 1;
        self.atom_of(origin, number)
    }

    /// The atom that comes from a choice. Without room for another machine it has no name, and all its numbers count.
    pub(crate) fn atom_of(&self, origin: Origin, number: u32) -> Value {
        let mut pickers = self.pickers.lock().unwrap_or_else(PoisonError::into_inner);
        let picker = pickers.iter().position(|&picker| picker == origin.machine).unwrap_or_else(|| {
            pickers.push(origin.machine);
            pickers.len() - 1
        });
        drop(pickers);
        if picker >= MAX_PICKERS {
            self.need_numbers(origin.site);
            return Value::atom(origin.site, number);
        }
        let name = (picker as u32 + 1) << ORDINAL_BITS | origin.ordinal;
        Value::atom(origin.site | name << SITE_BITS, number)
    }

    /// The choice that an atom of this class comes from, if it has a name. Machines that choose are numbered as they come, so that whatever
    /// leaves this search, or must not depend on threads, is made of this and not of the class.
    pub(crate) fn origin(&self, class: u32) -> Option<Origin> {
        let name = name_of(class);
        let picker = (name >> ORDINAL_BITS).checked_sub(1)? as usize;
        let pickers = self.pickers.lock().unwrap_or_else(PoisonError::into_inner);
        let ordinal = name & ((1 << ORDINAL_BITS) - 1);
        pickers.get(picker).map(|&machine| Origin { site: site_of(class), machine, ordinal })
    }

    /// Whether two atoms are equal; reported unless they are, or are not, whichever numbers were chosen.
    pub(crate) fn are_equal(&self, (class, number): (u32, u32), (other, other_number): (u32, u32)) -> bool {
        match (site_of(class) == site_of(other), name_of(class), name_of(other)) {
            (false, ..) => {
                self.need_numbers(class);
                self.need_numbers(other);
            }
            // They lie in different blocks.
            (true, ..) if number != other_number => return false,
            (true, 0, _) | (true, _, 0) => self.need_names(class),
            (true, name, other_name) if name == other_name => return true,
            (true, ..) => {
                self.need_numbers(class);
                return false;
            }
        }
        number == other_number
    }

    #[cold]
    fn need_names(&self, class: u32) {
        let class = site_of(class);
        let can_be_named = |site: &Site| self.allows_names && !site.is_named && site.n >= MIN_NAMED;
        match self.sites.get(class as usize).is_some_and(can_be_named) {
            true => self.learn(Fact::Names(class)),
            false => self.learn(Fact::Numbers(class)),
        }
    }

    /// The numbers of a class have to be distinguished.
    #[cold]
    pub(crate) fn need_numbers(&self, class: u32) {
        self.learn(Fact::Numbers(site_of(class)));
    }

    /// Numbers of a class below `at` have to be distinguished from the others.
    pub(crate) fn need_cut(&self, class: u32, at: i64) {
        let class = site_of(class);
        let Some(site) = self.sites.get(class as usize) else { return };
        if let Ok(at) = u32::try_from(at)
            && (1..site.n).contains(&at)
            && site.cuts.binary_search(&at).is_err()
        {
            self.learn(Fact::Cut(class, at));
        }
    }

    fn learn(&self, fact: Fact) {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).insert(fact);
        self.has_learned.store(true, Ordering::Relaxed);
    }
}
