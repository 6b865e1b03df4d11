//! Random choices.

use divvy_framework_arithmetic::random::Generator;

/// True once in so many times.
pub(crate) fn one_in(random: &mut Generator, number: u64) -> bool {
    random.below(number) == 0
}

/// One of some items; `None` if there are none.
pub(crate) fn pick<'item, T: ?Sized>(random: &mut Generator, items: &[&'item T]) -> Option<&'item T> {
    items.get(random.below(items.len() as u64) as usize).copied()
}
