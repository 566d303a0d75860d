//! Reads a trace file into a sink, in memory that does not grow with the length of the run.

use std::fmt;
use std::io;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{FORMAT, List, Sink, VERSION};

/// Why a file is not shown.
#[derive(Debug)]
pub enum ReadError {
    /// It is something else, or damaged.
    Format(String),
    /// The sink could not take it, or the file could not be read.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Format(problem) => f.write_str(problem),
            ReadError::Io(error) => write!(f, "{error}"),
        }
    }
}

/// Reads a trace and gives it to the sink piece by piece, in the order of the file.
///
/// # Errors
/// When it is not a trace of a version that is known here, is cut off, or cannot be read or passed on.
pub fn read(input: impl io::Read, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut reader = Reader { sink, failed: None, seen: Seen::default() };
    let mut json = serde_json::Deserializer::from_reader(io::BufReader::new(input));
    let done = reader.by_ref().deserialize(&mut json).and_then(|()| json.end());
    if let Some(error) = reader.failed {
        return Err(ReadError::Io(error));
    }
    let seen = reader.seen;
    match done {
        Err(error) if error.is_io() => return Err(ReadError::Io(error.into())),
        Err(error) if seen.is_trace => {
            return Err(ReadError::Format(format!("the trace is damaged: {error}")));
        }
        Err(error) => return Err(ReadError::Format(format!("not a trace of Allways: {error}"))),
        Ok(()) => {}
    }
    if !seen.is_trace {
        return Err(ReadError::Format(format!("not a trace of Allways: `format` is not \"{FORMAT}\"")));
    }
    let is_whole = seen.has_end && seen.n_steps == seen.expected_steps;
    if !is_whole {
        return Err(ReadError::Format(format!(
            "the trace is cut off: {} of {} steps are there",
            seen.n_steps, seen.expected_steps
        )));
    }
    Ok(())
}

#[derive(Default)]
struct Seen {
    is_trace: bool,
    has_end: bool,
    n_steps: u64,
    expected_steps: u64,
}

struct Reader<'a> {
    sink: &'a mut dyn Sink,
    failed: Option<io::Error>,
    seen: Seen,
}

impl<'a> Reader<'a> {
    fn by_ref(&mut self) -> Whole<'_, 'a> {
        Whole(self)
    }

    /// Passes on to the sink; its errors travel beside those of the parser.
    fn pass<E: serde::de::Error>(
        &mut self,
        act: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) -> Result<(), E> {
        act(self.sink).map_err(|error| {
            self.failed = Some(error);
            E::custom("the trace could not be passed on")
        })
    }

    fn field<E: serde::de::Error>(&mut self, key: &str, value: &str) -> Result<(), E> {
        match key {
            "format" if value == format!("\"{FORMAT}\"") => self.seen.is_trace = true,
            "format" => return Err(E::custom(format!("`format` is {value}"))),
            "version" if value != VERSION.to_string() => {
                return Err(E::custom(format!(
                    "format version {value}; this version of Allways reads version {VERSION} only: make the trace again with `allways replay`"
                )));
            }
            "end" => {
                self.seen.has_end = value == "true";
                return Ok(());
            }
            "nSteps" => self.seen.expected_steps = value.parse().map_err(E::custom)?,
            _ => {}
        }
        self.pass(|sink| sink.field(key, value))
    }
}

struct Whole<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for Whole<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match List::named(&key) {
                Some(list) => map.next_value_seed(Items { reader: self.0, list })?,
                None => {
                    let value: Box<RawValue> = map.next_value()?;
                    self.0.field(&key, one_line(value.get()).as_ref())?;
                }
            }
            if !self.0.seen.is_trace {
                // `format` comes first; a large file of another kind need not be read to its end.
                return Err(A::Error::custom("`format` is missing at its beginning"));
            }
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

struct Items<'r, 'a> {
    reader: &'r mut Reader<'a>,
    list: List,
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the list of {}", self.list.as_str())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.reader.pass(|sink| sink.begin(self.list))?;
        while let Some(value) = seq.next_element::<Box<RawValue>>()? {
            self.reader.seen.n_steps += u64::from(self.list == List::Steps);
            self.reader.pass(|sink| sink.item(one_line(value.get()).as_ref()))?;
        }
        self.reader.pass(|sink| sink.end())
    }
}

/// Between the tokens of JSON, line breaks mean nothing; inside of strings there are none.
fn one_line(json: &str) -> std::borrow::Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log(Vec<String>);

    impl Sink for Log {
        fn field(&mut self, key: &str, value: &str) -> io::Result<()> {
            self.0.push(format!("{key}={value}"));
            Ok(())
        }
        fn begin(&mut self, list: List) -> io::Result<()> {
            self.0.push(format!("{}:", list.as_str()));
            Ok(())
        }
        fn item(&mut self, value: &str) -> io::Result<()> {
            self.0.push(value.to_owned());
            Ok(())
        }
        fn end(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn tried(text: &str) -> Result<Vec<String>, String> {
        let mut log = Log::default();
        read(text.as_bytes(), &mut log).map(|()| log.0).map_err(|error| error.to_string())
    }

    #[test]
    fn pieces_come_in_the_order_of_the_file() {
        let text = r#"{"format":"allways-trace","version":1,"nSteps":2,"actors":[{"id":0}],"steps":[{"n":
            1},{"n":2}],"end":true}"#;
        let pieces = tried(text).unwrap();
        assert_eq!(pieces[3..5], ["actors:", "{\"id\":0}"]);
        assert_eq!(pieces.len(), 8);
        assert!(pieces.iter().all(|piece| !piece.contains('\n')));
    }

    #[test]
    fn other_files_are_refused() {
        for (text, word) in [
            ("[1]", "not a trace"),
            ("", "not a trace"),
            ("--allways-schedule:1\n", "not a trace"),
            (r#"{"a":1}"#, "not a trace"),
            (r#"{"format":"other"}"#, "not a trace"),
            (r#"{"format":"allways-trace","version":99}"#, "version 99"),
            (r#"{"format":"allways-trace","version":1,"nSteps":2,"steps":[{}"#, "damaged"),
            (r#"{"format":"allways-trace","version":1,"nSteps":2,"steps":[{}],"end":true}"#, "1 of 2 steps"),
            (r#"{"format":"allways-trace","version":1,"nSteps":0,"steps":[]}"#, "cut off"),
        ] {
            let problem = tried(text).unwrap_err();
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
