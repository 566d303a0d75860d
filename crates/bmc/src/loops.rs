//! Loops become procedures that call themselves: one bound on recursion then covers both.
//!
//! A loop is a strongly connected part of the graph that is entered at one block, its head. It is
//! carved out into a procedure of its own; a jump back to the head becomes a call of that procedure,
//! and a jump out of the loop ends the call and says where to go by a result per target. A loop that
//! runs n times takes n + 1 nested calls: the last one finds out that it is over.
//!
//! A part that is entered at several blocks is copied first, once per further entry, until it is not
//! (node splitting). Where that would grow too large, the part gets a head of its own instead: every jump to an entry goes
//! there and says by a flag where it wants to go. Each such jump is a turn of the loop then.

use std::collections::BTreeSet;

use allways_base::{Idx, IndexVec};

use crate::flow::*;
use crate::term::VarRef;

/// How many times as many blocks splitting may make of one procedure, and how many it may make in any case.
const MAX_GROWTH: usize = 4;
const MAX_SMALL: usize = 1_000;

/// Makes all graphs of a program acyclic.
pub fn extract_loops(flow: &mut Flow) {
    let ids: Vec<ProcId> = flow.procs.iter_ids().map(|(id, _)| id).collect();
    for id in ids {
        one_entry_per_loop(flow, id);
        let mut work = vec![(id, live_at_entry(flow, id))];
        while let Some((id, live)) = work.pop() {
            carve(flow, id, live, &mut work);
        }
    }
}

/// The strongly connected parts of the blocks that `entry` reaches within `inside`: those that are
/// cycles, in order of their first block.
fn cycles(
    blocks: &IndexVec<BlockId, Block>,
    roots: &[BlockId],
    inside: &dyn Fn(BlockId) -> bool,
) -> Vec<Vec<BlockId>> {
    // Tarjan's algorithm with an explicit stack.
    const UNSEEN: usize = usize::MAX;
    let n = blocks.len();
    let (mut number, mut low) = (vec![UNSEEN; n], vec![0usize; n]);
    let mut on_stack = vec![false; n];
    let (mut stack, mut counter) = (Vec::new(), 0);
    let mut found = Vec::new();
    for &root in roots {
        if !inside(root) || number[root.index()] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0usize)];
        while let Some(&mut (block, ref mut next)) = work.last_mut() {
            let at = block.index();
            if *next == 0 && number[at] == UNSEEN {
                number[at] = counter;
                low[at] = counter;
                counter += 1;
                stack.push(block);
                on_stack[at] = true;
            }
            if let Some(&to) = blocks[block].next.get(*next) {
                *next += 1;
                if inside(to) {
                    if number[to.index()] == UNSEEN {
                        work.push((to, 0));
                    } else if on_stack[to.index()] {
                        low[at] = low[at].min(number[to.index()]);
                    }
                }
                continue;
            }
            work.pop();
            if let Some(&(parent, _)) = work.last() {
                low[parent.index()] = low[parent.index()].min(low[at]);
            }
            if low[at] == number[at] {
                let start = stack.iter().rposition(|&b| b == block).unwrap_or(0);
                let mut part = stack.split_off(start);
                part.iter().for_each(|b| on_stack[b.index()] = false);
                if part.len() > 1 || blocks[block].next.contains(&block) {
                    part.sort();
                    found.push(part);
                }
            }
        }
    }
    found.sort();
    found
}

/// Gives every cycle of a procedure one head.
fn one_entry_per_loop(flow: &mut Flow, id: ProcId) {
    let most = (flow.procs[id].blocks.len() * MAX_GROWTH).max(MAX_SMALL);
    // A region is a set of blocks; its heads have been taken out already.
    let all: BTreeSet<BlockId> = flow.procs[id].blocks.iter_ids().map(|(id, _)| id).collect();
    let mut work: Vec<BTreeSet<BlockId>> = vec![all];
    while let Some(region) = work.pop() {
        let roots: Vec<BlockId> = region.iter().copied().collect();
        for part in cycles(&flow.procs[id].blocks, &roots, &|block| region.contains(&block)) {
            let part: BTreeSet<BlockId> = part.into_iter().collect();
            let proc = &mut flow.procs[id];
            let entries = entries(proc, &part);
            let Some((&head, others)) = entries.split_first() else { continue };
            if proc.blocks.len() + others.len() * part.len() <= most {
                work.extend(others.iter().map(|&entry| split(proc, &part, head, entry)));
                work.push(part.into_iter().filter(|&block| block != head).collect());
            } else {
                dispatch(flow, id, &part, &entries);
                // No cycle is left that has an entry on it.
                work.push(part.into_iter().filter(|block| !entries.contains(block)).collect());
            }
        }
    }
}

/// The blocks of a part at which it is entered.
fn entries(proc: &Proc, part: &BTreeSet<BlockId>) -> Vec<BlockId> {
    let mut entries: BTreeSet<BlockId> = BTreeSet::new();
    if part.contains(&proc.entry) {
        entries.insert(proc.entry);
    }
    for (id, block) in proc.blocks.iter_ids() {
        if !part.contains(&id) {
            entries.extend(block.next.iter().filter(|to| part.contains(to)));
        }
    }
    entries.into_iter().collect()
}

/// Copies a part for one of its entries. The copy is entered there only; its way to the head leads back to the original. Returns
/// its blocks.
fn split(proc: &mut Proc, part: &BTreeSet<BlockId>, head: BlockId, entry: BlockId) -> BTreeSet<BlockId> {
    let copied: Vec<BlockId> = part.iter().copied().filter(|&block| block != head).collect();
    let first = proc.blocks.len();
    let copy_of = |block: BlockId| {
        copied.binary_search(&block).map_or(block, |position| BlockId::new(first + position))
    };
    for id in (0..first).map(BlockId::new).filter(|id| !part.contains(id)) {
        let next = &mut proc.blocks[id].next;
        next.iter_mut().filter(|to| **to == entry).for_each(|to| *to = copy_of(entry));
    }
    for &block in &copied {
        let mut copy = proc.blocks[block].clone();
        copy.next.iter_mut().for_each(|to| *to = copy_of(*to));
        proc.blocks.push(copy);
    }
    copied.iter().map(|&block| copy_of(block)).collect()
}

/// Leads all jumps to entries of a part over one block, which becomes its head.
fn dispatch(flow: &mut Flow, id: ProcId, part: &BTreeSet<BlockId>, entries: &[BlockId]) {
    let ty = allways_boogie::check::Ty::BOOL;
    let flags: Vec<VarRef> =
        (0..entries.len()).map(|k| flow.new_var(format!("enter.{k}"), ty, VariableKind::Helper)).collect();
    let [yes, no] = [true, false].map(|value| flow.terms.bool(value));
    let proc = &mut flow.procs[id];
    let n_before = proc.blocks.len();
    let head = BlockId::new(n_before);
    let gate = |k: usize| BlockId::new(n_before + 1 + k);
    // Jumps from outside have blocks of their own: those from inside are on the cycle, which has one entry only.
    let arrow =
        |k: usize, inside: bool| BlockId::new(n_before + 1 + entries.len() * (1 + usize::from(inside)) + k);
    for id in (0..n_before).map(BlockId::new) {
        for to in &mut proc.blocks[id].next {
            if let Ok(k) = entries.binary_search(to) {
                *to = arrow(k, part.contains(&id));
            }
        }
    }
    if let Ok(k) = entries.binary_search(&proc.entry) {
        proc.entry = arrow(k, false);
    }
    proc.blocks.push(Block { next: (0..entries.len()).map(gate).collect(), ..Block::default() });
    for (k, &entry) in entries.iter().enumerate() {
        let kind = InstrKind::Assume(flow.terms.var(flags[k]));
        let instrs = vec![Instr { kind, origin: None }];
        proc.blocks.push(Block { instrs, next: vec![entry], failure: None });
    }
    for k in (0..entries.len()).chain(0..entries.len()) {
        let set = flags.iter().enumerate().map(|(at, &flag)| (flag, if at == k { yes } else { no }));
        let instrs = vec![Instr { kind: InstrKind::Assign(set.collect()), origin: None }];
        proc.blocks.push(Block { instrs, next: vec![head], failure: None });
    }
}

/// The locals that are live at the start of each block. Globals are not asked for.
fn live_at_entry(flow: &Flow, id: ProcId) -> IndexVec<BlockId, BTreeSet<VarRef>> {
    let proc = &flow.procs[id];
    let mut live: IndexVec<BlockId, BTreeSet<VarRef>> = proc.blocks.iter().map(|_| BTreeSet::new()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for idx in (0..proc.blocks.len()).rev() {
            let id = BlockId::new(idx);
            let block = &proc.blocks[id];
            let mut now: BTreeSet<VarRef> =
                block.next.iter().flat_map(|&to| live[to].iter().copied()).collect();
            if id == proc.exit {
                now.extend(&proc.results);
            }
            for instr in block.instrs.iter().rev() {
                instr.defines(flow, |var| {
                    now.remove(&var);
                });
                instr.uses(flow, |var| {
                    if flow.vars[var].kind != VariableKind::Global {
                        now.insert(var);
                    }
                });
            }
            if now != live[id] {
                live[id] = now;
                changed = true;
            }
        }
    }
    live
}

type Live = IndexVec<BlockId, BTreeSet<VarRef>>;

/// Takes the outermost loops out of a procedure. Their own loops are left as work.
fn carve(flow: &mut Flow, id: ProcId, mut live: Live, work: &mut Vec<(ProcId, Live)>) {
    let proc = &flow.procs[id];
    for part in cycles(&proc.blocks, &[proc.entry], &|_| true) {
        let part: BTreeSet<BlockId> = part.into_iter().collect();
        let proc = &flow.procs[id];
        let enters = |block: &BlockId| {
            *block == proc.entry
                || proc.blocks.iter_ids().any(|(from, b)| !part.contains(&from) && b.next.contains(block))
        };
        // Splitting has left one.
        let Some(head) = part.iter().copied().find(enters) else { continue };
        let mut targets: Vec<BlockId> = Vec::new();
        for &block in &part {
            for &to in &proc.blocks[block].next {
                if !part.contains(&to) && !targets.contains(&to) {
                    targets.push(to);
                }
            }
        }
        let mut matters: BTreeSet<VarRef> = live[head].clone();
        targets.iter().for_each(|&target| matters.extend(&live[target]));
        let mut hidden = BTreeSet::new();
        for instr in part.iter().flat_map(|&block| &proc.blocks[block].instrs) {
            instr.defines(flow, |var| {
                if flow.vars[var].kind != VariableKind::Global && !matters.contains(&var) {
                    hidden.insert(var);
                }
            });
        }
        let name = proc.name.clone();
        let bool_ty = allways_boogie::check::Ty::BOOL;
        // With one target there is nothing to tell.
        let leaves: Vec<VarRef> = match targets.len() {
            0 | 1 => Vec::new(),
            n => (0..n).map(|k| flow.new_var(format!("leave.{k}"), bool_ty, VariableKind::Helper)).collect(),
        };
        let loop_id = flow.procs.next_id();
        let (looped, loop_live) =
            loop_proc(flow, id, &live, &part, head, &targets, &leaves, hidden, name, loop_id);
        let pushed = flow.procs.push(looped);
        debug_assert_eq!(pushed, loop_id);
        replace_loop(flow, id, &mut live, &part, head, &targets, &leaves, loop_id);
        work.push((loop_id, loop_live));
    }
}

/// The procedure of a loop.
fn loop_proc(
    flow: &mut Flow,
    id: ProcId,
    live: &Live,
    part: &BTreeSet<BlockId>,
    head: BlockId,
    targets: &[BlockId],
    leaves: &[VarRef],
    hidden: BTreeSet<VarRef>,
    name: String,
    loop_id: ProcId,
) -> (Proc, Live) {
    let [yes, no] = [true, false].map(|value| flow.terms.bool(value));
    let order: Vec<BlockId> = part.iter().copied().collect();
    let n = order.len();
    let again = BlockId::new(n);
    let exit = BlockId::new(n + 1);
    let leave = |target: usize| BlockId::new(n + 2 + target);
    let mut blocks: IndexVec<BlockId, Block> = IndexVec::new();
    let mut loop_live: Live = IndexVec::new();
    for &block in &order {
        let mut copy = flow.procs[id].blocks[block].clone();
        for to in &mut copy.next {
            *to = if *to == head {
                again
            } else if let Some(target) = targets.iter().position(|t| t == to) {
                leave(target)
            } else {
                order.binary_search(to).map_or(exit, BlockId::new)
            };
        }
        blocks.push(copy);
        loop_live.push(live[block].clone());
    }
    let call = InstrKind::Call { callee: loop_id, args: Vec::new(), outs: leaves.to_vec() };
    blocks.push(Block { instrs: vec![Instr { kind: call, origin: None }], next: vec![exit], failure: None });
    loop_live.push(live[head].clone());
    blocks.push(Block::default());
    loop_live.push(BTreeSet::new());
    for (target, &to) in targets.iter().enumerate() {
        let flags = leaves.iter().enumerate().map(|(k, &leave)| (leave, if k == target { yes } else { no }));
        let flags: Vec<_> = flags.collect();
        let instrs = if flags.is_empty() {
            Vec::new()
        } else {
            vec![Instr { kind: InstrKind::Assign(flags), origin: None }]
        };
        blocks.push(Block { instrs, next: vec![exit], failure: None });
        loop_live.push(live[to].clone());
    }
    let entry = order.binary_search(&head).map_or(exit, BlockId::new);
    // What is live where the loop is left is live at its exit, also for the loops inside.
    let mut at_exit = live[head].clone();
    targets.iter().for_each(|&target| at_exit.extend(&live[target]));
    loop_live[exit] = at_exit;
    let looped = Proc {
        name,
        is_loop: true,
        params: Vec::new(),
        results: leaves.to_vec(),
        failed: None,
        blocks,
        entry,
        exit,
        hidden,
        reads: BTreeSet::new(),
        writes: BTreeSet::new(),
    };
    (looped, loop_live)
}

/// In place of the loop: a call, then a branch by what it says.
fn replace_loop(
    flow: &mut Flow,
    id: ProcId,
    live: &mut Live,
    part: &BTreeSet<BlockId>,
    head: BlockId,
    targets: &[BlockId],
    leaves: &[VarRef],
    loop_id: ProcId,
) {
    let flags: Vec<_> = leaves.iter().map(|&leave| flow.terms.var(leave)).collect();
    let proc = &mut flow.procs[id];
    for &block in part {
        if block != head {
            proc.blocks[block] = Block::default();
        }
    }
    let mut next = Vec::new();
    for (target, &to) in targets.iter().enumerate() {
        let Some(&flag) = flags.get(target) else {
            next.push(to);
            continue;
        };
        let instr = Instr { kind: InstrKind::Assume(flag), origin: None };
        next.push(proc.blocks.push(Block { instrs: vec![instr], next: vec![to], failure: None }));
        let at = live[to].clone();
        live.push(at);
    }
    let call = InstrKind::Call { callee: loop_id, args: Vec::new(), outs: leaves.to_vec() };
    proc.blocks[head] = Block { instrs: vec![Instr { kind: call, origin: None }], next, failure: None };
}
