//! Monitor temperatures.
//!
//! A monitor can become cold and hot again within one step, so its state between steps is not enough: recorders
//! note every control state that a monitor enters.

use allways_base::IndexVec;
use allways_machine::ir::ControlId;
use allways_machine::{Actor, Executable, Kernel, Note, Recorder, Scene};
use allways_p::hir::Temperature;

/// How hot the monitors are. Scenarios are not monitors here.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    /// By control state; warm for scenarios.
    temperatures: IndexVec<ControlId, Temperature>,
    /// By monitor: whether it is hot now, and since it was last cold, the steps at whose end it was hot.
    monitors: Vec<(bool, u64)>,
    n_hot: usize,
    has_liveness: bool,
}

impl Heat {
    pub fn new(exe: &Executable) -> Self {
        let temperatures: IndexVec<ControlId, Temperature> =
            exe.states.iter().map(|state| temperature(exe, state)).collect();
        let has_liveness = exe.monitors.iter().any(|monitor| {
            exe.states
                .iter()
                .zip(&temperatures)
                .any(|(state, &t)| state.machine == monitor.machine && t == Temperature::Hot)
        });
        Heat { temperatures, monitors: vec![(false, 0); exe.monitors.len()], n_hot: 0, has_liveness }
    }

    pub fn reset(&mut self) {
        self.monitors.fill((false, 0));
        self.n_hot = 0;
    }

    /// Some monitor has a hot state.
    pub fn has_liveness(&self) -> bool {
        self.has_liveness
    }

    #[inline]
    pub fn enter(&mut self, monitor: usize, state: ControlId) {
        if !self.has_liveness {
            return;
        }
        let (is_hot, steps) = &mut self.monitors[monitor];
        let temperature = self.temperatures[state];
        if temperature == Temperature::Cold {
            *steps = 0;
        }
        let will_be_hot = temperature == Temperature::Hot;
        if *is_hot != will_be_hot {
            *is_hot = will_be_hot;
            if will_be_hot { self.n_hot += 1 } else { self.n_hot -= 1 }
        }
    }

    /// Counts a step that was made. Says which monitor is hot for how long, the hottest of them.
    #[inline]
    pub fn step(&mut self) -> Option<(usize, u64)> {
        if self.n_hot == 0 {
            return None;
        }
        let mut hottest = None;
        for (monitor, (is_hot, steps)) in self.monitors.iter_mut().enumerate() {
            if *is_hot {
                *steps += 1;
                if hottest.is_none_or(|(_, most)| *steps > most) {
                    hottest = Some((monitor, *steps));
                }
            }
        }
        hottest
    }

    /// The hottest monitor that is hot now.
    pub fn hottest(&self) -> Option<(usize, u64)> {
        let hot = self.monitors.iter().enumerate().filter(|(_, (is_hot, _))| *is_hot);
        hot.map(|(monitor, &(_, steps))| (monitor, steps)).max_by_key(|&(m, steps)| (steps, usize::MAX - m))
    }
}

fn temperature(exe: &Executable, state: &allways_machine::ir::StateDef) -> Temperature {
    let machine = &exe.machines[state.machine];
    if machine.is_monitor && !machine.is_scenario { state.temperature } else { Temperature::Warm }
}

/// Hears what monitors go through in one step: cold or hot, even if only in passing. One bit per monitor; tests with
/// more than 64 monitors have no exhaustive liveness search.
pub(crate) struct StepHeat<'a> {
    pub heat: &'a Heat,
    pub hot: u64,
    pub cold: u64,
}

impl StepHeat<'_> {
    pub const MAX_MONITORS: usize = 64;
}

impl Recorder for StepHeat<'_> {
    #[inline(always)]
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        if let Note::Enter { actor: Actor::Monitor(monitor), state } = note {
            let bit = 1u64.checked_shl(monitor).unwrap_or(0);
            match self.heat.temperatures[state] {
                Temperature::Hot => self.hot |= bit,
                Temperature::Cold => self.cold |= bit,
                Temperature::Warm => {}
            }
        }
    }
}

/// Which monitors are hot and which are cold where the kernel stands, a bit for each.
pub(crate) fn standing(kernel: &Kernel) -> (u64, u64) {
    let mut hot = 0;
    let mut cold = 0;
    for monitor in 0..kernel.n_monitors().min(StepHeat::MAX_MONITORS) {
        match kernel.temperature(monitor) {
            Temperature::Hot => hot |= 1 << monitor,
            Temperature::Cold => cold |= 1 << monitor,
            Temperature::Warm => {}
        }
    }
    (hot, cold)
}
