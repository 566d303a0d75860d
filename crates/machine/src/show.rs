//! Code as text, for people and tests.
//!
//! ```text
//! fun 3 Server.Count (1 params, 4 registers)
//!   12  r2 = r0 Add c1
//!   13  send f0, c3, r2
//! ```
//!
//! Operands: `r` registers, `f` fields, `c` constants, which are listed at the end.

use std::fmt::{self, Write as _};

use crate::Executable;
use crate::ir::{AccessId, Op, Step, TemplateId, TemplatePiece};
use crate::record::PathNames;
use crate::value::{Form, write_value};

/// The whole code of an executable.
pub fn show(exe: &Executable) -> String {
    let mut out = String::new();
    for (idx, fun) in exe.funs.iter_ids() {
        let _ = writeln!(
            out,
            "fun {} {} ({} params, {} registers)",
            idx.as_u32(),
            exe.function_name(idx),
            fun.params.len(),
            fun.n_registers
        );
        for pc in fun.entry..fun.end {
            let _ = writeln!(out, "  {pc:>4}  {}", Shown { exe, op: exe.code[pc as usize] });
        }
    }
    for (idx, &value) in exe.consts.iter().enumerate() {
        let mut text = String::new();
        write_value(&exe.store, &PathNames(exe), Form::Log, value, &mut text);
        let _ = writeln!(out, "c{idx} = {text}");
    }
    out
}

struct Shown<'a> {
    exe: &'a Executable,
    op: Op,
}

impl Shown<'_> {
    fn path(&self, path: u32) -> String {
        let mut out = String::new();
        for step in &self.exe.paths[path as usize] {
            let _ = match step {
                Step::Part(n) => write!(out, ".{n}"),
                Step::Field(access) => write!(out, ".{}", self.field(*access)),
                Step::Index(index) => write!(out, "[{index:?}]"),
            };
        }
        out
    }

    fn field(&self, access: AccessId) -> &str {
        self.exe.symbols.text(self.exe.accesses[access].0)
    }

    fn row(&self, first: u32, n: usize) -> String {
        let registers: Vec<String> = (first..first + n as u32).map(|n| format!("r{n}")).collect();
        registers.join(", ")
    }

    fn template(&self, template: TemplateId) -> String {
        self.exe.templates[template]
            .pieces
            .iter()
            .map(|piece| match piece {
                TemplatePiece::Text(text) => format!("{text:?}"),
                TemplatePiece::Arg(n) => format!("{{{n}}}"),
            })
            .collect()
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exe = self.exe;
        match self.op {
            Op::Move { dst, src } => write!(f, "{dst:?} = {src:?}"),
            Op::Binary { op, dst, a, b } => write!(f, "{dst:?} = {a:?} {op:?} {b:?}"),
            Op::Not { dst, src } => write!(f, "{dst:?} = !{src:?}"),
            Op::Neg { dst, src } => write!(f, "{dst:?} = -{src:?}"),
            Op::Tuple { dst, first, n } => write!(f, "{dst:?} = ({})", self.row(first, n as usize)),
            Op::Named { dst, first, shape } => {
                write!(f, "{dst:?} = {shape:?}({})", self.row(first, exe.shapes[shape].len()))
            }
            Op::Part { dst, src, index } => write!(f, "{dst:?} = {src:?}.{index}"),
            Op::Field { dst, src, access } => write!(f, "{dst:?} = {src:?}.{}", self.field(access)),
            Op::Index { dst, src, index } => write!(f, "{dst:?} = {src:?}[{index:?}]"),
            Op::Keys { dst, src } => write!(f, "{dst:?} = keys {src:?}"),
            Op::Values { dst, src } => write!(f, "{dst:?} = values {src:?}"),
            Op::Sizeof { dst, src } => write!(f, "{dst:?} = sizeof {src:?}"),
            Op::Cast { dst, src, class } => write!(f, "{dst:?} = {src:?} as {}", class.as_str()),
            Op::ToInt { dst, src } => write!(f, "{dst:?} = {src:?} to int"),
            Op::ToFloat { dst, src } => write!(f, "{dst:?} = {src:?} to float"),
            Op::ToPermission { dst, src, permission } => write!(f, "{dst:?} = {src:?} to {permission:?}"),
            Op::Format { dst, template, first } | Op::FormatForPrint { dst, template, first } => {
                let n_args = exe.templates[template].n_args as usize;
                write!(f, "{dst:?} = format {} ({})", self.template(template), self.row(first, n_args))
            }
            Op::This { dst } => write!(f, "{dst:?} = this"),
            Op::Flip { dst, fair } => write!(f, "{dst:?} = {}", if fair { "$$" } else { "$" }),
            Op::Choose { dst, src } => write!(f, "{dst:?} = choose {src:?}"),
            Op::Jump { to } => write!(f, "jump {to}"),
            Op::JumpIf { cond, to } => write!(f, "jump {to} if {cond:?}"),
            Op::JumpIfNot { cond, to } => write!(f, "jump {to} if not {cond:?}"),
            Op::Next { dst, iter, end } => write!(f, "{dst:?} = next r{iter}, or jump {end}"),
            Op::Call { dst, fun, first } => {
                let n_params = exe.funs[fun].params.len();
                write!(f, "{dst:?} = call {} ({})", exe.function_name(fun), self.row(first, n_params))
            }
            Op::Return { src } => write!(f, "return {src:?}"),
            Op::Store { root, path, src } => write!(f, "{root:?}{} = {src:?}", self.path(path)),
            Op::Insert { root, path, src } => write!(f, "insert {root:?}{} = {src:?}", self.path(path)),
            Op::Add { root, path, src } => write!(f, "add {root:?}{}, {src:?}", self.path(path)),
            Op::Remove { root, path } => write!(f, "remove {root:?}{}", self.path(path)),
            Op::Fail { message } => write!(f, "fail {message:?}"),
            Op::Print { src } => write!(f, "print {src:?}"),
            Op::PrintFormat { template, first } => {
                let n_args = exe.templates[template].n_args as usize;
                write!(f, "print {} ({})", self.template(template), self.row(first, n_args))
            }
            Op::Send { target, event, payload } => write!(f, "send {target:?}, {event:?}, {payload:?}"),
            Op::Announce { event, payload } => write!(f, "announce {event:?}, {payload:?}"),
            Op::New { dst, interface, payload } => {
                write!(f, "{dst:?} = new {} {payload:?}", exe.interface_name(interface))
            }
            Op::Raise { event, payload } => write!(f, "raise {event:?}, {payload:?}"),
            Op::Goto { state, payload } => write!(f, "goto {}, {payload:?}", exe.state_name(state)),
            Op::Receive { table } => {
                write!(f, "receive")?;
                for (event, case) in exe.receives[table].cases.iter_ids() {
                    if let Some(case) = case {
                        write!(f, " {}:{}", exe.event_name(event), case.to)?;
                    }
                }
                Ok(())
            }
            Op::Foreign { fun } => write!(f, "foreign {}", exe.function_name(fun)),
        }
    }
}
