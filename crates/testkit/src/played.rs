//! Other processes of a cluster that are played: whatever bytes they send, a search must not panic, hang, or hold more than was sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use allways_explore::exchange::{Exchange, Peers};

/// Another process that sends what it is given, whatever it is sent, and leaves.
pub struct Played {
    messages: Mutex<VecDeque<Vec<u8>>>,
    failure: Mutex<Option<String>>,
}

impl Played {
    /// The peers of process 0 of two, of which the other is played.
    pub fn peers(messages: impl IntoIterator<Item = Vec<u8>>) -> Peers {
        let messages = Mutex::new(messages.into_iter().collect());
        Peers(Arc::new(Played { messages, failure: Mutex::default() }))
    }
}

impl Exchange for Played {
    fn number(&self) -> usize {
        0
    }

    fn n_processes(&self) -> usize {
        2
    }

    fn send(&self, _: usize, _: Vec<u8>) {}

    fn take(&self, _: usize) -> Option<Vec<u8>> {
        self.messages.lock().unwrap().pop_front()
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn wait(&self) {}

    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap().clone()
    }

    fn has_left(&self, _: usize) -> bool {
        self.messages.lock().unwrap().is_empty()
    }

    fn fail(&self, _: usize, why: &str) {
        self.failure.lock().unwrap().get_or_insert(why.to_owned());
    }
}
