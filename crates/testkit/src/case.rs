//! The random program of a seed, ready to run, and small programs that differ as it does.

use std::sync::Arc;

use allways_machine::Executable;
use allways_run::NetworkOptions;

use crate::differential::{Over, network_of, program_of};
use crate::shrink::shrink;
use crate::{Loaded, proof};

pub struct Case {
    pub seed: u64,
    pub text: String,
    pub loaded: Loaded,
    pub network: NetworkOptions,
    pub exe: Arc<Executable>,
}

impl Case {
    /// # Panics
    /// When the front end rejects the program: a fault of the generator.
    pub fn new(seed: u64, over: Over) -> Case {
        Case::with_text(seed, over, program_of(seed, over))
    }

    /// The same of another program.
    ///
    /// # Panics
    /// When the front end rejects it.
    pub fn with_text(seed: u64, over: Over, text: String) -> Case {
        let loaded = Loaded::new("random.p", &text)
            .unwrap_or_else(|messages| panic!("seed {seed}: {messages}\n{text}"));
        let network = network_of(&loaded.program, seed, over);
        let exe =
            proof::executable(&loaded, &network).unwrap_or_else(|message| panic!("seed {seed}: {message}"));
        Case { seed, text, loaded, network, exe }
    }

    /// What a difference begins with: how to come by the program again.
    pub fn name(&self) -> String {
        format!("seed {} {}", self.seed, self.network.describe().unwrap_or_default())
    }

    /// A program that differs, with lines of this one left out while it does. `None` where the question does not arise.
    pub fn shrunk(&self, differs: impl Fn(&Loaded) -> Option<bool>) -> String {
        shrunk(&self.text, differs)
    }
}

/// A program that differs, as small as lines can be left out of one that does.
pub fn shrunk(text: &str, differs: impl Fn(&Loaded) -> Option<bool>) -> String {
    shrink(text, |candidate| {
        let Ok(loaded) = Loaded::new("random.p", candidate) else { return false };
        !loaded.program.tests.is_empty() && differs(&loaded) == Some(true)
    })
}
