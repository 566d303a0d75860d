//! Well-formedness of code.
//!
//! 1. Every function is a non-empty run of ops, and the last does not fall through.
//! 2. Every jump, loop end and receive case leads to an op of the same function.
//! 3. Every register is below the function's count; consecutive registers too, and arguments of a call.
//! 4. Every field is one of the owner's; a global function uses none.
//! 5. Every constant, path, template, table, shape, function, interface and state exists.
//! 6. Nothing writes to a constant.

use crate::Executable;
use crate::ir::{FunDef, Op, Operand, OperandView, Step, TemplateId};

/// Checks all code; the error names the op.
pub fn verify(exe: &Executable) -> Result<(), String> {
    if exe.code.len() != exe.spans.len() {
        return Err("ops and spans differ in number".into());
    }
    for (fun_idx, fun) in exe.funs.iter().enumerate() {
        let Some(ops) = exe.code.get(fun.entry as usize..fun.end as usize) else {
            return Err(format!("function {fun_idx}: no such ops"));
        };
        if !ops.last().is_some_and(Op::ends) {
            return Err(format!("function {fun_idx}: falls off its end"));
        }
        for (at, op) in ops.iter().enumerate() {
            Check { exe, fun }.op(op).map_err(|what| {
                format!("function {fun_idx}, op {}: {what}: {op:?}", fun.entry as usize + at)
            })?;
        }
    }
    Ok(())
}

struct Check<'a> {
    exe: &'a Executable,
    fun: &'a FunDef,
}

impl Check<'_> {
    fn op(&self, op: &Op) -> Result<(), &'static str> {
        let exe = self.exe;
        match *op {
            Op::Move { dst, src }
            | Op::Not { dst, src }
            | Op::Neg { dst, src }
            | Op::Part { dst, src, .. }
            | Op::Keys { dst, src }
            | Op::Values { dst, src }
            | Op::Sizeof { dst, src }
            | Op::Cast { dst, src, .. }
            | Op::ToInt { dst, src }
            | Op::ToFloat { dst, src }
            | Op::Choose { dst, src } => self.write(dst).and(self.read(src)),
            Op::Binary { dst, a, b, .. } => self.write(dst).and(self.read(a)).and(self.read(b)),
            Op::Tuple { dst, first, n } => self.write(dst).and(self.row(first, n as usize)),
            Op::Named { dst, first, shape } => {
                let names = exe.shapes.get(shape).ok_or("no such shape")?;
                self.write(dst).and(self.row(first, names.len()))
            }
            Op::Field { dst, src, access } => {
                exe.accesses.get(access).ok_or("no such access")?;
                self.write(dst).and(self.read(src))
            }
            Op::Index { dst, src, index } => self.write(dst).and(self.read(src)).and(self.read(index)),
            Op::ToPermission { dst, src, permission } => {
                exe.permissions.get(permission).ok_or("no such permission set")?;
                self.write(dst).and(self.read(src))
            }
            Op::Format { dst, template, first } | Op::FormatForPrint { dst, template, first } => {
                self.write(dst).and(self.template(template, first))
            }
            Op::PrintFormat { template, first } => self.template(template, first),
            Op::This { dst } | Op::Flip { dst, .. } => self.write(dst),
            Op::Jump { to } => self.jump(to),
            Op::JumpIf { cond, to } | Op::JumpIfNot { cond, to } => self.read(cond).and(self.jump(to)),
            Op::Next { dst, iter, end } => self.write(dst).and(self.row(iter, 2)).and(self.jump(end)),
            Op::Call { dst, fun, first } => {
                let callee = exe.funs.get(fun).ok_or("no such function")?;
                self.write(dst)?;
                // Without arguments the row may begin just past the last register.
                self.row(first, callee.params.len())
            }
            Op::Return { src } | Op::Print { src } => self.read(src),
            Op::Fail { message } => self.read(message),
            Op::Store { root, path, src } | Op::Insert { root, path, src } | Op::Add { root, path, src } => {
                self.write(root).and(self.read(src)).and(self.path(op, path))
            }
            Op::Remove { root, path } => self.write(root).and(self.path(op, path)),
            Op::Send { target, event, payload } => {
                self.read(target).and(self.read(event)).and(self.read(payload))
            }
            Op::Announce { event, payload } | Op::Raise { event, payload } => {
                self.read(event).and(self.read(payload))
            }
            Op::New { dst, interface, payload } => {
                exe.interfaces.get(interface).ok_or("no such interface")?;
                self.write(dst).and(self.read(payload))
            }
            Op::Goto { state, payload } => {
                exe.states.get(state).ok_or("no such state")?;
                self.read(payload)
            }
            Op::Receive { table } => {
                let table = exe.receives.get(table).ok_or("no such receive table")?;
                for case in table.cases.iter().flatten() {
                    self.jump(case.to)?;
                    if let Some((register, _)) = case.param {
                        self.row(register, 1)?;
                    }
                }
                Ok(())
            }
            Op::Foreign { fun } => exe.funs.get(fun).map(|_| ()).ok_or("no such function"),
        }
    }

    fn read(&self, operand: Operand) -> Result<(), &'static str> {
        let exists = match operand.view() {
            OperandView::Register(n) => n < self.fun.n_registers,
            OperandView::Field(n) => n < self.fun.n_fields,
            OperandView::Const(n) => (n as usize) < self.exe.consts.len(),
        };
        if exists { Ok(()) } else { Err("no such operand") }
    }

    fn write(&self, operand: Operand) -> Result<(), &'static str> {
        match operand.view() {
            OperandView::Const(_) => Err("a constant is written"),
            OperandView::Register(_) | OperandView::Field(_) => self.read(operand),
        }
    }

    fn row(&self, first: u32, n: usize) -> Result<(), &'static str> {
        if first as usize + n <= self.fun.n_registers as usize { Ok(()) } else { Err("no such registers") }
    }

    fn jump(&self, to: u32) -> Result<(), &'static str> {
        if (self.fun.entry..self.fun.end).contains(&to) { Ok(()) } else { Err("leads out of the function") }
    }

    fn template(&self, template: TemplateId, first: u32) -> Result<(), &'static str> {
        let template = self.exe.templates.get(template).ok_or("no such template")?;
        self.row(first, template.n_args as usize)
    }

    fn path(&self, op: &Op, path: u32) -> Result<(), &'static str> {
        let steps = self.exe.paths.get(path as usize).ok_or("no such path")?;
        for step in steps {
            match *step {
                Step::Part(_) => {}
                Step::Field(access) => {
                    self.exe.accesses.get(access).ok_or("no such access")?;
                }
                Step::Index(index) => self.read(index)?,
            }
        }
        let fits = match op {
            Op::Store { .. } => !steps.is_empty(),
            Op::Insert { .. } | Op::Remove { .. } => matches!(steps.last(), Some(Step::Index(_))),
            _ => true,
        };
        if fits { Ok(()) } else { Err("the path lacks its last step") }
    }
}
