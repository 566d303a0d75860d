//! A conversation with a solver: what was said can be kept, answers are checked for sense.

use super::sexpr::{self, SExpr};
use super::{Solver, SolverError};

/// The answer to a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckResult {
    Sat,
    /// With the assumptions that were used; all of them if the solver did not say.
    Unsat(Vec<String>),
    /// With the solver's reason. Never a reason to say "no bug".
    Unknown(String),
}

pub struct Session<'a> {
    solver: &'a mut dyn Solver,
    /// Everything said so far, if it is kept.
    log: Option<String>,
    pub n_checks: u64,
    /// Whether an undecided check leaves a model that is worth a look.
    pub gives_candidates: bool,
}

impl<'a> Session<'a> {
    pub fn new(solver: &'a mut dyn Solver, keep_log: bool) -> Result<Self, SolverError> {
        Session::start(solver, keep_log, false)
    }

    /// With `quick`, quantifiers are instantiated by triggers only, if the solver knows how.
    pub fn start(solver: &'a mut dyn Solver, keep_log: bool, quick: bool) -> Result<Self, SolverError> {
        let triggers_only = solver.triggers_only().filter(|_| quick);
        // What is kept of several sessions can be given to a solver as one file.
        let log = keep_log.then(|| "(reset)\n".to_owned());
        let mut session = Session { solver, log, n_checks: 0, gives_candidates: triggers_only.is_some() };
        session.tell(triggers_only.unwrap_or_default())?;
        session.tell(
            "(set-option :produce-models true)\n(set-option :produce-unsat-assumptions true)\n(set-logic ALL)\n",
        )?;
        Ok(session)
    }

    pub fn tell(&mut self, commands: &str) -> Result<(), SolverError> {
        if let Some(log) = &mut self.log {
            log.push_str(commands);
        }
        self.solver.tell(commands)
    }

    /// The text said so far.
    pub fn into_log(self) -> Option<String> {
        self.log
    }

    pub fn time(&self) -> std::time::Duration {
        self.solver.time()
    }

    fn ask(&mut self, command: &str) -> Result<SExpr, SolverError> {
        if let Some(log) = &mut self.log {
            log.push_str(command);
            log.push('\n');
        }
        let answer = self.solver.ask(command)?;
        if let Some(log) = &mut self.log
            && command.starts_with("(check-sat")
        {
            log.push_str(&format!("; {}\n", answer.trim()));
        }
        let nonsense = || SolverError::Nonsense { asked: shorten(command), answer: shorten(answer.trim()) };
        let parsed = sexpr::parse(&answer).ok_or_else(nonsense)?;
        if let Some([head, rest @ ..]) = parsed.list()
            && head.atom() == Some("error")
        {
            let words: Vec<String> = rest.iter().map(SExpr::to_string).collect();
            return Err(SolverError::Complaint(words.join(" ").trim_matches('"').to_owned()));
        }
        Ok(parsed)
    }

    /// Checks everything said so far under assumptions, each a literal.
    pub fn check(&mut self, assumptions: &[String]) -> Result<CheckResult, SolverError> {
        self.n_checks += 1;
        // Some solvers reject an empty list.
        let command = match assumptions {
            [] => "(check-sat)".to_owned(),
            _ => format!("(check-sat-assuming ({}))", assumptions.join(" ")),
        };
        let answer = self.ask(&command)?;
        match answer.atom() {
            Some("sat") => Ok(CheckResult::Sat),
            Some("unsat") if assumptions.is_empty() => Ok(CheckResult::Unsat(Vec::new())),
            Some("unsat") => {
                let core = self.ask("(get-unsat-assumptions)")?;
                let core = match core.list() {
                    Some(items) => items.iter().map(SExpr::to_string).collect(),
                    None => assumptions.to_vec(),
                };
                Ok(CheckResult::Unsat(core))
            }
            Some("unknown") => {
                let reason = self.ask("(get-info :reason-unknown)")?;
                let reason = match reason.list() {
                    Some([_, reason]) => reason.to_string().trim_matches(['"', '(', ')']).to_owned(),
                    _ => reason.to_string(),
                };
                Ok(CheckResult::Unknown(reason))
            }
            _ => {
                Err(SolverError::Nonsense { asked: shorten(&command), answer: shorten(&answer.to_string()) })
            }
        }
    }

    /// The model of the last check.
    pub fn model(&mut self) -> Result<SExpr, SolverError> {
        self.ask("(get-model)")
    }

    /// The values of terms in the model of the last check, in the order of the terms.
    pub fn values(&mut self, terms: &[String]) -> Result<Vec<SExpr>, SolverError> {
        let mut values = Vec::with_capacity(terms.len());
        // Solvers answer long questions slowly; a few hundred terms at a time is fine.
        for chunk in terms.chunks(400) {
            match self.values_at_once(chunk) {
                Err(SolverError::Complaint(complaint)) if !complaint.contains(NO_MODEL) => {
                    for term in chunk {
                        values.push(self.value_or_itself(term)?);
                    }
                }
                answer => values.extend(answer?),
            }
        }
        Ok(values)
    }

    /// Some solvers give no values of terms with bound variables, nor of names for them: such a term stands for itself.
    fn value_or_itself(&mut self, term: &String) -> Result<SExpr, SolverError> {
        match self.values_at_once(std::slice::from_ref(term)) {
            Err(SolverError::Complaint(complaint)) => {
                sexpr::parse(term).ok_or(SolverError::Complaint(complaint))
            }
            answer => Ok(answer?.remove(0)),
        }
    }

    fn values_at_once(&mut self, terms: &[String]) -> Result<Vec<SExpr>, SolverError> {
        let command = format!("(get-value ({}))", terms.join(" "));
        let answer = self.ask(&command)?;
        let nonsense = |part: &SExpr| SolverError::Nonsense {
            asked: shorten(&command),
            answer: shorten(&part.to_string()),
        };
        let pairs = answer.list().unwrap_or_default();
        if pairs.len() != terms.len() {
            return Err(nonsense(&answer));
        }
        pairs
            .iter()
            .map(|pair| match pair.list() {
                Some([_, value]) => Ok(value.clone()),
                _ => Err(nonsense(pair)),
            })
            .collect()
    }
}

/// What Z3 says where there is none, which is no matter of single terms.
const NO_MODEL: &str = "model is not available";

fn shorten(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Recorded;
    use super::*;

    #[test]
    fn checks_understand_recorded_answers() {
        let answers =
            ["sat", "unsat", "((not |a|))", "unknown", "(:reason-unknown \"timeout\")", "((|x| (- 3)))"];
        let mut solver = Recorded::new(answers);
        let mut session = Session::new(&mut solver, true).unwrap();
        let assumptions = ["(not |a|)".to_owned()];
        assert_eq!(session.check(&assumptions).unwrap(), CheckResult::Sat);
        assert_eq!(session.check(&assumptions).unwrap(), CheckResult::Unsat(assumptions.to_vec()));
        assert_eq!(session.check(&[]).unwrap(), CheckResult::Unknown("timeout".to_owned()));
        assert_eq!(session.values(&["|x|".to_owned()]).unwrap()[0].to_string(), "(- 3)");
        assert_eq!(session.n_checks, 3);
        assert!(matches!(session.check(&[]), Err(SolverError::Died { .. })));
    }

    #[test]
    fn complaints_and_nonsense_are_errors() {
        let mut solver = Recorded::new(["(error \"line 3: unknown constant\")", "hello", "(", "((x 1))"]);
        let mut session = Session::new(&mut solver, false).unwrap();
        assert_eq!(session.check(&[]), Err(SolverError::Complaint("line 3: unknown constant".to_owned())));
        assert!(matches!(session.check(&[]), Err(SolverError::Nonsense { .. })));
        assert!(matches!(session.check(&[]), Err(SolverError::Nonsense { .. })));
        assert!(matches!(session.values(&["x".into(), "y".into()]), Err(SolverError::Nonsense { .. })));
    }

    #[test]
    fn a_term_without_a_value_stands_for_itself() {
        let complaint = "(error \"must be ground\")";
        let mut solver = Recorded::new([complaint, "((|x| 3))", complaint]);
        let mut session = Session::new(&mut solver, false).unwrap();
        let binder = "(lambda ((i Int)) i)";
        let values = session.values(&["|x|".into(), binder.into()]).unwrap();
        assert_eq!(values.iter().map(SExpr::to_string).collect::<Vec<_>>(), ["3", binder]);
    }
}
