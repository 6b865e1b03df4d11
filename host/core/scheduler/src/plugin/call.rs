//! The calls to a plugin: their kinds, and what the host does with each kind in the same way.

use divvy_framework_abi::call::{
    AssignCall, BindingValueCall, FilterCall, PaceCall, PrepareCall, ReleaseFunction, ScoreCall, SelectCall,
    SnapshotValueCall,
};
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::{Address, Function};
use divvy_isolation::IsolatedCall;

use super::error::CallError;

/// Kinds of calls to a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// State for one cycle, or a value for a snapshot or a binding, is prepared.
    Prepare,
    /// Clusters are filtered.
    Filter,
    /// Clusters are scored.
    Score,
    /// Candidates are selected.
    Select,
    /// Replicas are assigned.
    Assign,
    /// The next step of a move is taken.
    Pace,
}

impl Call {
    /// All kinds.
    pub(super) const ALL: [Self; 6] = [
        Self::Prepare,
        Self::Filter,
        Self::Score,
        Self::Select,
        Self::Assign,
        Self::Pace,
    ];

    /// Its name.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Prepare => "Prepare",
            Self::Filter => "Filter",
            Self::Score => "Score",
            Self::Select => "Select",
            Self::Assign => "Assign",
            Self::Pace => "Pace",
        }
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Watches the calls of a profile's plugins, for metrics and for a watchdog. The scheduler reads no clock, so it is up to
/// the observer to time them. Each call begins and ends on the thread that decides.
pub trait CallObserver: Send + Sync {
    /// A call begins.
    fn begins(&self, plugin: &'static str, call: Call);
    /// The call that began last has ended: with a result, or with this error.
    fn ends(&self, plugin: &'static str, call: Call, error: Option<&CallError>);
    /// A filter rejected this number of clusters that no earlier filter had rejected for the binding.
    fn rejected(&self, plugin: &'static str, clusters: usize) {
        let _ = (plugin, clusters);
    }
}

/// A call that can be made: it begins with the fields of [`CallHead`](divvy_framework_abi::call::CallHead).
///
/// # Safety
///
/// The call's kind is `KIND`, and everything that it points to lives as long as it.
pub(super) unsafe trait Callable: IsolatedCall {
    const KIND: u32;
    const CALL: Call;

    fn set_sink(&mut self, sink: Address);

    /// The value that the plugin keeps, and the function that drops it, both written by the plugin; `None` if it keeps none.
    fn keeps(&mut self) -> Option<(&mut Address, &mut Function<ReleaseFunction>)> {
        None
    }
}

macro_rules! callable {
    ($($name:ident = $kind:ident, $call:ident $(keeping $value:ident)?);+ $(;)?) => {$(
        // SAFETY: its fields borrow what they point to, and the kind is its own.
        unsafe impl Callable for $name<'_> {
            const KIND: u32 = kind::$kind;
            const CALL: Call = Call::$call;

            fn set_sink(&mut self, sink: Address) {
                self.sink = sink;
            }

            $(
                fn keeps(&mut self) -> Option<(&mut Address, &mut Function<ReleaseFunction>)> {
                    Some((&mut self.$value, &mut self.release))
                }
            )?
        }
    )+};
}

callable!(
    PrepareCall = PREPARE, Prepare keeping state;
    SnapshotValueCall = SNAPSHOT_VALUE, Prepare keeping value;
    BindingValueCall = BINDING_VALUE, Prepare keeping value;
    FilterCall = FILTER, Filter;
    ScoreCall = SCORE, Score;
    SelectCall = SELECT, Select;
    AssignCall = ASSIGN, Assign;
    PaceCall = PACE, Pace;
);
