//! Which thread expands which chunks of a layer. Each thread has a contiguous part: neighbours have much in common, and caches are
//! per thread. A thread that has finished its part takes chunks from the far end of the parts of others.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::chunk::Chunk;
use crate::search::lock;

/// A chunk, from some vector on.
#[derive(Default)]
pub(crate) struct Task {
    pub chunk: Chunk,
    pub from: usize,
    /// Vectors before that one which have to be expanded again, in order.
    pub others: Vec<Again>,
    /// Its vectors come from elsewhere, and are to be inserted.
    pub is_arrival: bool,
}

/// A vector of a chunk that has to be expanded again.
#[derive(Clone, Copy)]
pub(crate) struct Again {
    pub place: u32,
    /// The slots whose steps are missing, as bits; zero if all of it has to be expanded.
    pub slots: u64,
}

impl Task {
    pub fn len(&self) -> usize {
        self.chunk.len() - self.from + self.others.len()
    }
}

pub(crate) struct Tasks {
    /// By thread.
    queues: Vec<Mutex<VecDeque<Task>>>,
}

impl Tasks {
    pub fn new(n_threads: usize) -> Self {
        Tasks { queues: (0..n_threads).map(|_| Mutex::default()).collect() }
    }

    pub fn hand_out(&self, tasks: Vec<Task>) {
        let (n, n_threads) = (tasks.len(), self.queues.len());
        let mut tasks = tasks.into_iter();
        for (number, queue) in self.queues.iter().enumerate() {
            let n_own = n * (number + 1) / n_threads - n * number / n_threads;
            lock(queue).extend(tasks.by_ref().take(n_own));
        }
    }

    /// The next one for a thread.
    pub fn take(&self, number: usize) -> Option<Task> {
        let own = lock(&self.queues[number]).pop_back();
        own.or_else(|| {
            let others = self.queues.iter().cycle().skip(number + 1).take(self.queues.len() - 1);
            others.filter_map(|queue| lock(queue).pop_front()).next()
        })
    }

    /// Those that no thread has taken.
    pub fn take_back(&self) -> Vec<Task> {
        self.queues.iter().flat_map(|queue| std::mem::take(&mut *lock(queue))).collect()
    }
}
