//! Reads what [`crate::encode`] writes with every register as it is: locals, messages, and those in flight.
//!
//! The bytes may come from another process or from a file, so nothing in them is trusted: every number is checked against the
//! executable, a list is no longer than the bytes that are left, values nest no deeper than the store allows, and names of machines are
//! made only up to the limit of machines of one run. What is read again encodes to the same bytes.

use std::collections::VecDeque;

use allways_base::{Idx, Span};
use allways_run::{InstanceId, Limits, ViolationKind};

use crate::Executable;
use crate::configuration::{After, Fault, Frame, Local, Message, Pending, Status};
use crate::data::Origin;
use crate::ir::{ControlId, EventId, FunId, InterfaceId, MachineId, Operand, OperandView, ReceiveId};
use crate::kernel::Kernel;
use crate::network::InFlight;
use crate::value::{Kind, MAX_DEPTH, PermissionId, Store, Value};

/// Why bytes are not those of a local of this executable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError(pub &'static str);

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DecodeError {}

impl Kernel<'_> {
    /// The local whose bytes these are, all of them. Its values are interned here.
    ///
    /// # Errors
    /// When they are not those of a local of this executable.
    pub fn decode_local(&mut self, bytes: &[u8]) -> Result<Local, DecodeError> {
        self.decode(bytes, |decoder| decoder.local())
    }

    /// The same of the messages in flight.
    ///
    /// # Errors
    /// Likewise.
    pub fn decode_in_flight(&mut self, bytes: &[u8]) -> Result<InFlight, DecodeError> {
        self.decode(bytes, |decoder| decoder.in_flight())
    }

    fn decode<R>(
        &mut self,
        bytes: &[u8],
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let exe = self.executable().clone();
        let mut decoder = Decoder { exe: &exe, store: self.store_mut(), bytes, depth: 0 };
        let found = read(&mut decoder)?;
        match decoder.bytes {
            [] => Ok(found),
            _ => Err(DecodeError("bytes are left over")),
        }
    }
}

/// Reads a number of seven bits a byte, low bits first; `None` if the bytes end early or say more than 64 bits.
pub fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = u64::from(byte & 0x7f);
        if shift == 63 && low > 1 {
            return None;
        }
        n |= low << shift;
        if byte < 0x80 {
            return Some(n);
        }
    }
    None
}

struct Decoder<'a> {
    exe: &'a Executable,
    store: &'a mut Store,
    /// Those that are left.
    bytes: &'a [u8],
    /// Of the value that is read.
    depth: u32,
}

type Read<T> = Result<T, DecodeError>;

fn check(holds: bool, what: &'static str) -> Read<()> {
    if holds { Ok(()) } else { Err(DecodeError(what)) }
}

impl Decoder<'_> {
    fn byte(&mut self) -> Read<u8> {
        let (&byte, rest) = self.bytes.split_first().ok_or(DecodeError("the bytes end early"))?;
        self.bytes = rest;
        Ok(byte)
    }

    fn take(&mut self, n: usize) -> Read<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n).ok_or(DecodeError("the bytes end early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Read<u64> {
        read_number(&mut self.bytes).ok_or(DecodeError("no number"))
    }

    fn word(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| DecodeError("a number is too large"))
    }

    /// A number below a count.
    fn below(&mut self, n: usize, what: &'static str) -> Read<u32> {
        let found = self.word()?;
        check((found as usize) < n, what)?;
        Ok(found)
    }

    fn event(&mut self) -> Read<EventId> {
        self.below(self.exe.n_events(), "no such event").map(EventId::from_u32)
    }

    fn control(&mut self) -> Read<ControlId> {
        self.below(self.exe.states.len(), "no such state").map(ControlId::from_u32)
    }

    fn fun(&mut self) -> Read<FunId> {
        self.below(self.exe.funs.len(), "no such function").map(FunId::from_u32)
    }

    fn interface(&mut self) -> Read<InterfaceId> {
        self.below(self.exe.interfaces.len(), "no such interface").map(InterfaceId::from_u32)
    }

    /// The length of a list, of which each element takes a byte at least.
    fn length(&mut self) -> Read<usize> {
        let n = self.number()?;
        check(n <= self.bytes.len() as u64, "a list is longer than the bytes")?;
        Ok(n as usize)
    }

    fn instance(&mut self) -> Read<InstanceId> {
        let n = self.length()?;
        let path = (0..n).map(|_| self.word()).collect::<Read<Vec<u32>>>()?;
        let most = Limits::default().machines as usize;
        self.exe.instances.at_path_within(&path, most).ok_or(DecodeError("too many machines"))
    }

    fn message(&mut self) -> Read<Message> {
        let event = self.event()?;
        Ok(Message { event, payload: self.value()? })
    }

    fn local(&mut self) -> Read<Local> {
        let exe = self.exe;
        let machine = MachineId::from_u32(self.below(exe.machines.len(), "no such machine")?);
        // Of a monitor it means nothing.
        let interface = InterfaceId::from_u32(self.word()?);
        check(
            exe.machines[machine].is_monitor || interface.index() < exe.interfaces.len(),
            "no such interface",
        )?;
        let status = match self.number()? {
            0 => Status::Idle,
            1 => return Ok(Local { machine, interface, ..Local::default() }),
            2 => Status::Blocked {
                table: ReceiveId::from_u32(self.below(exe.receives.len(), "no such receive")?),
            },
            3 => Status::Pending(Pending::Start),
            4 => Status::Pending(Pending::Observe),
            5 => {
                let target = self.instance()?;
                Status::Pending(Pending::Deliver { target, message: self.message()? })
            }
            6 => {
                let interface = self.interface()?;
                let dst = self.operand()?;
                Status::Pending(Pending::Create { interface, payload: self.value()?, dst })
            }
            7 => Status::Pending(Pending::Fault(self.fault()?)),
            8 => Status::Pending(Pending::Foreign { fun: self.fun()? }),
            _ => return Err(DecodeError("no such status")),
        };
        let control = self.control()?;
        let n_children = self.word()?;
        let n_named = self.word()?;
        let after = match self.number()? {
            0 => After::Handler,
            1 => {
                let target = self.control()?;
                let with =
                    self.below(exe.funs.len() + 1, "no such function")?.checked_sub(1).map(FunId::from_u32);
                After::Exit { target, with, payload: self.value()? }
            }
            2 => {
                let target = self.control()?;
                After::With { target, payload: self.value()? }
            }
            3 => After::Unhandled { event: self.event()? },
            _ => return Err(DecodeError("nothing of this kind comes after a handler")),
        };
        let n_frames = self.length()?;
        let frames = (0..n_frames).map(|_| self.frame()).collect::<Read<Vec<Frame>>>()?;
        let n_registers = self.length()?;
        let registers = (0..n_registers).map(|_| self.value()).collect::<Read<Vec<Value>>>()?;
        for (depth, frame) in frames.iter().enumerate() {
            let end = u64::from(frame.base) + u64::from(exe.funs[frame.fun].n_registers);
            // A callee's window begins inside its caller's, of which the rest comes back when it returns.
            let is_there = match frames.get(depth + 1) {
                Some(callee) => frame.base <= callee.base && u64::from(callee.base) <= end,
                None => end <= n_registers as u64,
            };
            check(is_there, "a frame has no registers")?;
        }
        // What is about to fail has left everything behind.
        let n_fields = exe.machines[machine].fields.len();
        let is_bare = matches!(status, Status::Pending(Pending::Fault(_)));
        check(is_bare || n_registers >= n_fields, "fields are missing")?;
        let n_waiting = self.length()?;
        let inbox = (0..n_waiting).map(|_| self.message()).collect::<Read<VecDeque<Message>>>()?;
        Ok(Local {
            machine,
            interface,
            control,
            status,
            after,
            n_children,
            n_named,
            frames,
            registers,
            inbox,
            ..Local::default()
        })
    }

    fn frame(&mut self) -> Read<Frame> {
        let fun = self.fun()?;
        let (pc, base, dst) = (self.word()?, self.word()?, self.operand()?);
        let code = &self.exe.funs[fun];
        check((code.entry..code.end).contains(&pc), "a frame is outside of its function")?;
        Ok(Frame { fun, pc, base, dst })
    }

    fn operand(&mut self) -> Read<Operand> {
        let bits = self.word()?;
        let operand = Operand::from_bits(bits).ok_or(DecodeError("no such operand"))?;
        match operand.view() {
            OperandView::Const(n) => check((n as usize) < self.exe.consts.len(), "no such constant")?,
            OperandView::Register(_) | OperandView::Field(_) => {}
        }
        Ok(operand)
    }

    fn fault(&mut self) -> Read<Fault> {
        let kind = self.below(ViolationKind::ALL.len(), "no such fault")?;
        let text = self.value()?;
        let span = match self.word()?.checked_sub(1) {
            None => None,
            Some(file) => {
                let (start, end) = (self.word()?, self.word()?);
                check(start <= end, "a place ends before it begins")?;
                Some(Span::new(allways_base::FileId::new(file as usize), start, end))
            }
        };
        Ok(Fault { kind: ViolationKind::ALL[kind as usize], text, span })
    }

    fn value(&mut self) -> Read<Value> {
        match self.byte()? {
            0 => Ok(Value::NULL),
            tag @ (1 | 2) => Ok(Value::bool(tag == 2)),
            3 => {
                let n = self.number()?;
                Ok(self.store.int((n >> 1) as i64 ^ -((n & 1) as i64)))
            }
            4 => Ok(Value::event(self.event()?)),
            5 => {
                let instance = self.instance()?;
                let permission = self.below(self.exe.permissions.len(), "no such permission")?;
                Ok(Value::reference(instance, PermissionId::from_u32(permission)))
            }
            6 => {
                check(self.depth > 0, "a freed slot outside of a collection")?;
                Ok(Value::hole(self.word()?.checked_sub(1)))
            }
            7 => {
                let bits = self.take(8)?.try_into().map_err(|_| DecodeError("no number"))?;
                Ok(self.store.float(f64::from_bits(u64::from_le_bytes(bits))))
            }
            8 => {
                let n = self.length()?;
                let bytes = self.bytes;
                self.take(n)?;
                let text = std::str::from_utf8(&bytes[..n]).map_err(|_| DecodeError("no text"))?;
                Ok(self.store.string(text))
            }
            20 => {
                let (class, number) = (self.word()?, self.word()?);
                check(class < 1 << 28, "no such class of numbers")?;
                Ok(Value::atom(class, number))
            }
            21 => {
                let (site, machine, ordinal) = (self.word()?, self.instance()?, self.word()?);
                let (origin, number) = (Origin { site, machine, ordinal }, self.word()?);
                check(origin.is_valid(), "no such choice")?;
                let plan = self.store.data.as_ref().ok_or(DecodeError("no choices have names"))?;
                Ok(plan.atom_of(origin, number))
            }
            tag => {
                let kinds = [Kind::Tuple, Kind::Named, Kind::Seq, Kind::Set, Kind::Map];
                let kind = kinds.into_iter().find(|&kind| 9 + kind as u8 == tag);
                self.node(kind.ok_or(DecodeError("no such value"))?)
            }
        }
    }

    fn node(&mut self, kind: Kind) -> Read<Value> {
        // A value that is one too deep exists until the machine that made it fails.
        check(self.depth <= MAX_DEPTH + 1, "a value nests too deeply")?;
        self.depth += 1;
        let n = self.length()?;
        let content = (0..n).map(|_| self.value()).collect::<Read<Vec<Value>>>()?;
        self.depth -= 1;
        if kind == Kind::Named {
            let shape = content.first().and_then(|shape| shape.as_small_int());
            let shape = shape.filter(|&shape| (0..self.exe.shapes.len() as i64).contains(&shape));
            let names = shape.map(|shape| self.exe.shapes.iter().nth(shape as usize).map_or(0, Vec::len));
            check(names.is_some_and(|names| names + 1 == n), "no such named tuple")?;
        }
        self.store.intern_content(kind, &content).ok_or(DecodeError("no such collection"))
    }

    fn in_flight(&mut self) -> Read<InFlight> {
        let mut flight = InFlight::default();
        let n_channels = self.length()?;
        for _ in 0..n_channels {
            let (target, source) = (self.instance()?, self.instance()?);
            let n = self.number()?;
            let (has_spare, n) = (n & 1 == 1, n >> 1);
            check(n > 0 && n <= self.bytes.len() as u64, "a list is longer than the bytes")?;
            let channel = flight.add_channel(source, target).ok_or(DecodeError("a channel comes twice"))?;
            for _ in 0..n {
                let message = self.message()?;
                let is_spare = has_spare && self.below(2, "no truth value")? == 1;
                let before = self.numbers(n_channels)?;
                flight.add_sent(channel, message, is_spare, before);
            }
        }
        for _ in 0..self.length()? {
            let instance = self.instance()?;
            let known = self.numbers(n_channels)?;
            flight.set_known(instance, known);
        }
        Ok(flight)
    }

    /// Numbers by channel.
    fn numbers(&mut self, n_channels: usize) -> Read<Vec<u32>> {
        let mut numbers = Vec::new();
        for _ in 0..self.length()? {
            let at = self.below(n_channels, "no such channel")? as usize;
            check(at >= numbers.len(), "channels are out of order")?;
            numbers.resize(at, 0);
            numbers.push(self.word()?);
        }
        Ok(numbers)
    }
}
