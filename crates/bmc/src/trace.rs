//! A failing execution of a sequential program, as the model tells it.

use allways_boogie::check::Ty;
use allways_boogie::tree::StmtId;

use crate::flow::Failure;
use crate::model::Model;
use crate::value::Value;

/// What was executed, in order. Loops show as nested calls of themselves.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// The assertion that failed.
    pub failure: Option<Failure>,
    /// Globals before the first step, as far as the program reads them.
    pub initial: Vec<Assigned>,
    pub constants: Vec<Assigned>,
    /// What functions without a definition do.
    pub model: Model,
    pub steps: Vec<TraceStep>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TraceStep {
    Enter {
        procedure: String,
        is_loop: bool,
        args: Vec<Assigned>,
        /// Other variables that are read before they are assigned.
        locals: Vec<Assigned>,
    },
    Leave {
        procedure: String,
        is_loop: bool,
    },
    /// The procedure has several bodies, and this one is executed, by its place.
    Body(u32),
    /// A statement with the values it gave to variables. A branching statement shows once per branch
    /// taken, with its number in `way` if the choice was free; a call shows before its steps, with the results that it will have.
    Stmt {
        stmt: StmtId,
        values: Vec<Assigned>,
        way: Option<u32>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Assigned {
    pub name: String,
    /// In the program that was verified.
    pub ty: Ty,
    pub value: Value,
}
