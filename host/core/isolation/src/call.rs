//! The calls that an isolated plugin answers: what it may write, and what its own addresses are.

use divvy_framework_abi::Address;
use divvy_framework_abi::call::{
    AssignCall, BindingValueCall, FilterCall, PaceCall, PrepareCall, ScoreCall, SelectCall, SnapshotValueCall,
};
use divvy_framework_abi::carry::Carry;

use crate::event::FIRST_PROVISIONAL;

/// A call that can be made to an isolated plugin.
pub trait IsolatedCall: Carry {
    /// Visits the fields with values that the plugin keeps.
    fn kept(&mut self, visit: impl FnMut(&mut Address));

    /// Takes out the address of the sink, which is one of this process. A worker has a sink of its own.
    fn hide_sink(&mut self);

    /// Takes the fields that the plugin writes from the answered call. Values that it keeps are its own addresses.
    fn take(&mut self, answered: &Self);

    /// Takes the field that a plugin writes even if the call fails: the time until which the failure holds.
    fn take_of_failure(&mut self, answered: &Self);

    /// Replaces the codes that the worker answered for reasons by the host's.
    fn translate(&mut self, answers: &[u32]) {
        let _ = answers;
    }
}

macro_rules! isolated {
    ($($name:ident { $($written:ident),* } $(also $previous:ident)? $(translates $codes:ident)?;)+) => {$(
        impl IsolatedCall for $name<'_> {
            fn kept(&mut self, mut visit: impl FnMut(&mut Address)) {
                visit(&mut self.prepared);
                visit(&mut self.snapshot_value);
                visit(&mut self.binding_value);
                $(visit(&mut self.$previous);)?
            }

            fn hide_sink(&mut self) {
                self.sink = Address::NULL;
            }

            fn take(&mut self, answered: &Self) {
                self.valid_until = answered.valid_until;
                $(self.$written = answered.$written;)*
            }

            fn take_of_failure(&mut self, answered: &Self) {
                self.valid_until = answered.valid_until;
            }

            $(
                fn translate(&mut self, answers: &[u32]) {
                    // SAFETY: the call borrows the column, and is itself borrowed here.
                    translate(unsafe { self.$codes.as_mut_slice() }, answers);
                }
            )?
        }
    )+};
}

isolated! {
    PrepareCall { state, release };
    SnapshotValueCall { value, release } also previous;
    BindingValueCall { value, release };
    FilterCall {} translates codes;
    ScoreCall {};
    SelectCall { count };
    AssignCall { least_clusters, most_clusters, most_per_provider, most_per_region, most_per_zone };
    PaceCall { wait };
}

/// Replaces the codes that a worker gave by those that the host gave for the same reasons. A code that it did not give stays.
fn translate(codes: &mut [u32], answers: &[u32]) {
    if answers.is_empty() {
        return;
    }
    for code in codes {
        let number = code.checked_sub(FIRST_PROVISIONAL).map(|number| number as usize);
        if let Some(answer) = number.and_then(|number| answers.get(number)) {
            *code = *answer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_reasons_become_those_of_the_host() {
        let mut codes = [0, FIRST_PROVISIONAL + 1, 7, FIRST_PROVISIONAL, FIRST_PROVISIONAL + 2];
        translate(&mut codes, &[11, 12]);
        assert_eq!(codes, [0, 12, 7, 11, FIRST_PROVISIONAL + 2]);
    }
}
