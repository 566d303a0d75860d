//! Posts: what surrounds the call that runs a task.

use allways_base::{Span, Symbol};
use allways_boogie::dialect::Post;
use allways_boogie::tree::*;

use super::Translator;
use super::body::{Frame, Stmts};
use crate::build::Builder;
use crate::{Role, Unsupported};

impl Translator<'_> {
    pub(super) fn post(
        &mut self,
        id: StmtId,
        post: &Post<'_>,
        span: Span,
        frame: &mut Frame,
        out: &mut Stmts,
    ) -> Result<(), Unsupported> {
        if post.task_id.is_some() {
            return self.unsupported("task numbers", span);
        }
        let call = post.call;
        if call.free {
            return self.unsupported("a post that is a `free call`", span);
        }
        let callee = call.callee.symbol;
        if !self.checked.procedures.contains_key(&callee) {
            return self.unsupported("a post of something that is built in", span);
        }
        let shape = self.shape(callee);
        self.announce("post", span, out);
        let mut args = self.args(call, true, frame, out)?;
        let types = self.result_types(callee);
        let handle = post
            .handle
            .and_then(|name| self.resolve(name, frame))
            .and_then(|var| frame.handles.get(&var))
            .copied();
        let int = self.build.int_type();
        let mut outs: Vec<Option<Ident>> = Vec::new();
        for (idx, (name, ty)) in types.iter().enumerate() {
            let target = match handle {
                Some((result, _)) if idx == 0 => result,
                _ => {
                    let purpose = format!("{}.{name}.unused", self.checked.program.text(callee));
                    self.helper(frame, &purpose, *ty)
                }
            };
            outs.push(Some(self.build.ident(target)));
        }
        let child_round = match frame.round {
            Some(round) => {
                if shape.takes_round {
                    args.push(self.build.var(round));
                }
                if shape.returns_round {
                    let child = self.helper(frame, "child.round", int);
                    outs.push(Some(self.build.ident(child)));
                    Some(child)
                } else {
                    Some(round)
                }
            }
            None => None,
        };
        // What belongs to the task alone is put aside.
        let mut own: Vec<(Symbol, TypeId)> = Vec::new();
        for name in [self.atomic, self.joined].into_iter().flatten() {
            own.push((name, int));
        }
        for var in self.thread_locals.clone() {
            if self.effects.below(callee).any(|(_, effects)| effects.accesses.contains(&var)) {
                let ty = self.build.type_of(self.checked, self.checked.vars[var].ty);
                own.push((self.checked.vars[var].name.symbol, ty));
            }
        }
        let mut saved_own: Vec<(Symbol, Symbol)> = Vec::new();
        for &(name, ty) in &own {
            let text = self.build.program.text(name).to_owned();
            let saved = self.helper(frame, &format!("saved.{text}"), ty);
            saved_own.push((name, saved));
            out.push(self.build.copy(&[(saved, name)]));
            if Some(name) == self.atomic {
                let zero = self.build.int(0);
                out.push(self.build.assign(vec![(name, zero)]));
            } else if Some(name) == self.joined {
                let no_task = self.build.int(-1);
                out.push(self.build.assign(vec![(name, no_task)]));
            } else {
                let choice = self.build.havoc(&[name]);
                out.push(self.mark(choice, id, Role::Choice));
                self.assume_where(name, frame, out);
            }
        }
        let attr = self.build.attr("post", Vec::new());
        let new = Call { is_async: false, free: false, attrs: vec![attr], outs, callee: call.callee, args };
        if self.is_child_first() {
            let stmt = self.build.stmt(StmtKind::Call(new));
            out.push(self.mark(stmt, id, Role::Post));
            if let Some(stopped) = self.stopped {
                let no = self.build.bool(false);
                out.push(self.build.assign(vec![(stopped, no)]));
            }
        } else if self.is_serial() {
            self.run_serial(id, callee, new, frame, out);
        } else {
            self.run_child(id, callee, new, frame, out);
        }
        for (name, saved) in saved_own {
            if Some(name) == self.joined {
                // Now the latest of this child and those before it.
                let latest = match child_round {
                    Some(child) => {
                        out.push(self.build.copy(&[(name, saved)]));
                        self.later_round(name, child)
                    }
                    None => {
                        let only = self.build.int(0);
                        self.build.assign(vec![(name, only)])
                    }
                };
                out.push(latest);
                continue;
            }
            out.push(self.build.copy(&[(name, saved)]));
        }
        if let Some((_, round)) = handle {
            let value = match child_round {
                _ if self.is_depth_first() => self.time_below(child_round),
                Some(child) => self.build.var(child),
                None => self.build.int(0),
            };
            out.push(self.build.assign(vec![(round, value)]));
        }
        Ok(())
    }

    /// Swaps the views, guesses, calls, and checks the guess.
    fn run_child(&mut self, id: StmtId, callee: Symbol, call: Call, frame: &mut Frame, out: &mut Stmts) {
        let swapped: Vec<usize> = self.swapped.get(&callee).into_iter().flatten().copied().collect();
        let guessed: Vec<usize> = self.guessed.get(&callee).into_iter().flatten().copied().collect();
        let mut save = Vec::new();
        let mut load = Vec::new();
        for &idx in &swapped {
            for round in 0..self.shared[idx].next.len() {
                let (copy, next, ty) = {
                    let shared = &self.shared[idx];
                    (shared.copies[round], shared.next[round], shared.ty)
                };
                let text = self.build.program.text(copy).to_owned();
                let saved = self.helper(frame, &format!("saved.{text}"), ty);
                save.push((saved, copy));
                load.push((copy, next));
            }
        }
        let mut guesses = Vec::new();
        let mut promised = Vec::new();
        let mut kept = Vec::new();
        for &idx in &guessed {
            for round in 0..self.shared[idx].next.len() {
                let (copy, next, end, ty) = {
                    let shared = &self.shared[idx];
                    (shared.copies[round], shared.next[round], shared.end[round], shared.ty)
                };
                guesses.push(next);
                if self.has_waits {
                    let text = self.build.program.text(end).to_owned();
                    let saved = self.helper(frame, &format!("saved.{text}"), ty);
                    kept.push((saved, end));
                    promised.push((end, next, copy));
                } else {
                    // Only this post reads the promise, so a local will do.
                    let text = self.build.program.text(end).to_owned();
                    let local = self.helper(frame, &format!("local.{text}"), ty);
                    promised.push((local, next, copy));
                }
            }
        }
        if !save.is_empty() {
            out.push(self.build.copy(&save));
            out.push(self.build.copy(&load));
        }
        if !kept.is_empty() {
            out.push(self.build.copy(&kept));
        }
        if !guesses.is_empty() {
            out.push(self.build.havoc(&guesses));
            let pairs: Vec<(Symbol, Symbol)> = promised.iter().map(|&(end, next, _)| (end, next)).collect();
            out.push(self.build.copy(&pairs));
        }
        let stmt = self.build.stmt(StmtKind::Call(call));
        out.push(self.mark(stmt, id, Role::Post));
        if !promised.is_empty() {
            let pairs: Vec<(Symbol, Symbol)> = promised.iter().map(|&(end, _, copy)| (copy, end)).collect();
            out.push(self.build.assume_equal(&pairs));
        }
        let back = |pairs: &[(Symbol, Symbol)]| -> Vec<(Symbol, Symbol)> {
            pairs.iter().map(|&(saved, name)| (name, saved)).collect()
        };
        if !save.is_empty() {
            out.push(self.build.copy(&back(&save)));
        }
        if !kept.is_empty() {
            out.push(self.build.copy(&back(&kept)));
        }
    }

    /// Puts a task off to a round of its own choice and runs it there.
    fn run_serial(&mut self, id: StmtId, callee: Symbol, mut call: Call, frame: &mut Frame, out: &mut Stmts) {
        let int = self.build.int_type();
        let last = self.n_rounds as i64 - 1;
        let target = frame.round.map(|round| {
            let target = self.helper(frame, "target", int);
            let choice = self.build.havoc(&[target]);
            out.push(self.mark(choice, id, Role::Round));
            let (low, high) = (self.build.var(round), self.build.var(target));
            let from = self.build.binary(BinaryOp::Le, low, high);
            let (high, last) = (self.build.var(target), self.build.int(last));
            let to = self.build.binary(BinaryOp::Le, high, last);
            let within = self.build.and(&[from, to]);
            out.push(self.build.assume(within));
            if self.shape(callee).takes_round
                && let Some(arg) = call.args.last_mut()
            {
                *arg = self.build.var(target);
            }
            target
        });
        let swapped: Vec<usize> = self.swapped.get(&callee).into_iter().flatten().copied().collect();
        let guessed: Vec<usize> = self.guessed.get(&callee).into_iter().flatten().copied().collect();
        // Nothing runs between the start and the end of a task that posts nothing, so its end need not be guessed.
        let is_leaf = self.effects.below(callee).all(|(_, effects)| effects.posts.is_empty());
        let mut held = Vec::new();
        let mut promised = Vec::new();
        let mut reached = Vec::new();
        for idx in swapped {
            let (copy, slots, ty) = {
                let shared = &self.shared[idx];
                (shared.copies[0], shared.next.clone(), shared.ty)
            };
            let text = self.build.program.text(copy).to_owned();
            let hold = self.helper(frame, &format!("saved.{text}"), ty);
            out.push(self.build.copy(&[(hold, copy)]));
            held.push((copy, hold));
            let here = |slot: usize, build: &mut Builder| {
                let target = target?;
                let (target, slot) = (build.var(target), build.int(slot as i64));
                Some(build.eq(target, slot))
            };
            let mut value = self.build.var(slots[slots.len() - 1]);
            for (number, &slot) in slots.iter().enumerate().rev().skip(1) {
                if let Some(here) = here(number, &mut self.build) {
                    let slot = self.build.var(slot);
                    value = self.build.ite(here, slot, value);
                }
            }
            out.push(self.build.assign(vec![(copy, value)]));
            if is_leaf && guessed.contains(&idx) {
                for (number, &slot) in slots.iter().enumerate() {
                    let (new, old) = (self.build.var(copy), self.build.var(slot));
                    let value = match here(number, &mut self.build) {
                        Some(here) => self.build.ite(here, new, old),
                        None => new,
                    };
                    reached.push((slot, value));
                }
            } else if guessed.contains(&idx) {
                let guess = self.helper(frame, &format!("guess.{text}"), ty);
                out.push(self.build.havoc(&[guess]));
                let mut pairs = Vec::new();
                for (number, &slot) in slots.iter().enumerate() {
                    let (new, old) = (self.build.var(guess), self.build.var(slot));
                    let value = match here(number, &mut self.build) {
                        Some(here) => self.build.ite(here, new, old),
                        None => new,
                    };
                    pairs.push((slot, value));
                }
                out.push(self.build.assign(pairs));
                promised.push((copy, guess));
            }
        }
        let stmt = self.build.stmt(StmtKind::Call(call));
        out.push(self.mark(stmt, id, Role::Post));
        if !promised.is_empty() {
            out.push(self.build.assume_equal(&promised));
        }
        if !reached.is_empty() {
            out.push(self.build.assign(reached));
        }
        if !held.is_empty() {
            out.push(self.build.copy(&held));
        }
    }
}
