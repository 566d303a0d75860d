//! What may happen to messages and machines, as the user asks for it: the network model and injected faults.
//!
//! A message of a machine to itself never touches the network: it is in the own inbox at once, and is neither lost nor
//! doubled. Making a machine is never delayed either.

/// Which orders the network keeps (docs/semantics.md, section 3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum NetworkModel {
    /// A send puts its message into the inbox of the target at once, as P has it.
    #[default]
    Inbox,
    /// Messages to one receiver arrive in causal order: not before any that was sent, to the same receiver, before
    /// something that the sender knew of. A machine knows what it has sent, and with each message that has
    /// reached its inbox what the sender knew when it sent that.
    Causal,
    /// Messages between two machines stay in order.
    Fifo,
    /// No order is kept.
    Bag,
}

impl NetworkModel {
    pub const ALL: [NetworkModel; 4] =
        [NetworkModel::Inbox, NetworkModel::Causal, NetworkModel::Fifo, NetworkModel::Bag];

    /// The name that users give.
    pub const fn as_str(self) -> &'static str {
        match self {
            NetworkModel::Inbox => "inbox",
            NetworkModel::Causal => "causal",
            NetworkModel::Fifo => "fifo",
            NetworkModel::Bag => "bag",
        }
    }

    pub fn named(name: &str) -> Option<NetworkModel> {
        NetworkModel::ALL.into_iter().find(|model| model.as_str() == name)
    }
}

/// The network and the faults that are let in, by name.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct NetworkOptions {
    pub model: NetworkModel,
    /// Events whose messages can be lost.
    pub lossy: Vec<String>,
    /// Events whose messages can arrive twice.
    pub duplicating: Vec<String>,
    /// Machines that can crash at any time.
    pub crash: Vec<String>,
}

impl NetworkOptions {
    pub fn is_default(&self) -> bool {
        self.model == NetworkModel::Inbox && !self.has_faults()
    }

    pub fn has_faults(&self) -> bool {
        !(self.lossy.is_empty() && self.duplicating.is_empty() && self.crash.is_empty())
    }

    /// What is let in, in a few words; nothing for P's own network without faults.
    pub fn describe(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.model != NetworkModel::Inbox {
            parts.push(format!("network {}", self.model.as_str()));
        }
        for (what, names) in
            [("lossy", &self.lossy), ("duplicating", &self.duplicating), ("crash", &self.crash)]
        {
            if !names.is_empty() {
                parts.push(format!("{what} {}", names.join(", ")));
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for model in NetworkModel::ALL {
            assert_eq!(NetworkModel::named(model.as_str()), Some(model));
        }
        assert_eq!(NetworkModel::named("tcp"), None);
    }

    #[test]
    fn options_are_described() {
        let mut options = NetworkOptions::default();
        assert_eq!(options.describe(), None);
        options.model = NetworkModel::Fifo;
        options.lossy = vec!["eA".to_owned(), "eB".to_owned()];
        assert_eq!(options.describe().as_deref(), Some("network fifo; lossy eA, eB"));
    }
}
