//! The order of bindings by namespace, name and scope.
//!
//! Among hundreds of thousands of bindings, each comparison of two waits for memory four times. The beginnings of their names are
//! therefore collected first, and bindings themselves are compared only if they begin alike.

use super::Binding;

/// Bytes of an identity that are compared before the rest of it.
const BEGINNING: usize = 32;

/// The order of bindings in a list; equal bindings keep their order.
#[derive(Debug, Default)]
pub(super) struct Order {
    keys: Vec<Key>,
    /// True if a namespace contains a zero, which separates namespace and name in a key. The keys cannot be compared then.
    has_zeros: bool,
}

#[derive(Debug, Clone, Copy)]
struct Key {
    /// Namespace, a zero, and name: the first bytes, padded with zeros. Keys of bindings are in the order of the bindings, or equal.
    beginning: [u8; BEGINNING],
    index: usize,
}

impl Order {
    /// The order of these bindings.
    pub(super) fn of(bindings: &[Binding]) -> Self {
        let mut order = Self::default();
        order.keys.reserve_exact(bindings.len());
        for (index, binding) in bindings.iter().enumerate() {
            let (namespace, name, _) = binding.identity();
            order.has_zeros |= namespace.contains('\0');
            order.keys.push(Key {
                beginning: beginning(namespace, name),
                index,
            });
        }
        order.sort_keys(bindings);
        order
    }

    /// Adds the order of bindings that are appended to the list. [`Self::sort`] merges it in.
    pub(super) fn append(&mut self, later: Self) {
        let before = self.keys.len();
        self.has_zeros |= later.has_zeros;
        let index = |key: Key| Key {
            index: key.index + before,
            ..key
        };
        self.keys.extend(later.keys.into_iter().map(index));
    }

    /// Sorts `bindings`, which must be the list that this order describes.
    pub(super) fn sort(mut self, bindings: &mut [Binding]) {
        self.sort_keys(bindings);
        for to in 0..self.keys.len() {
            let mut from = self.keys[to].index;
            // The binding that was there has been swapped away: follow it.
            while from < to {
                from = self.keys[from].index;
            }
            // Shortens the way for later ones.
            self.keys[to].index = from;
            bindings.swap(to, from);
        }
    }

    /// Orders the keys. Parts that are in order already are merged.
    fn sort_keys(&mut self, bindings: &[Binding]) {
        let has_beginnings = !self.has_zeros;
        let identity = |key: &Key| bindings.get(key.index).map(Binding::identity);
        self.keys.sort_by(|left, right| {
            let by_beginning = match has_beginnings {
                true => left.beginning.cmp(&right.beginning),
                false => std::cmp::Ordering::Equal,
            };
            by_beginning
                .then_with(|| identity(left).cmp(&identity(right)))
                .then_with(|| left.index.cmp(&right.index))
        });
    }
}

fn beginning(namespace: &str, name: &str) -> [u8; BEGINNING] {
    let mut bytes = [0; BEGINNING];
    let texts = namespace.bytes().chain([0]).chain(name.bytes());
    for (to, from) in bytes.iter_mut().zip(texts) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::api::{ObjectMeta, ResourceBinding};

    /// A binding whose source distinguishes it from others of its name.
    fn binding((namespace, name): &(String, String), number: usize) -> Binding {
        let metadata = ObjectMeta {
            namespace: namespace.clone(),
            name: name.clone(),
            generation: number as i64,
            ..ObjectMeta::default()
        };
        let kind = match number % 3 {
            0 => "ClusterResourceBinding",
            _ => "ResourceBinding",
        };
        Binding {
            object: Box::new(ResourceBinding {
                kind: kind.to_owned(),
                metadata,
                ..ResourceBinding::default()
            }),
            ..Binding::default()
        }
    }

    fn names() -> impl Strategy<Value = Vec<(String, String)>> {
        // Long common beginnings, texts that end where another goes on, other scripts, and zeros.
        let text = prop_oneof!["[ab]{0,3}", "[a-b]{28,34}", "a{0,40}", "[ä東\u{0}-a]{0,4}"];
        proptest::collection::vec((text.clone(), text), 0..40)
    }

    proptest! {
        #[test]
        fn bindings_are_sorted_as_by_their_identities(names in names(), cuts in (0_usize..40, 0_usize..40)) {
            let bindings: Vec<Binding> = names.iter().enumerate().map(|(number, name)| binding(name, number)).collect();
            let mut expected = bindings.clone();
            expected.sort_by(|left, right| left.identity().cmp(&right.identity()));
            let (first, second) = (cuts.0.min(cuts.1).min(names.len()), cuts.0.max(cuts.1).min(names.len()));
            let mut order = Order::of(&bindings[..first]);
            order.append(Order::of(&bindings[first..second]));
            order.append(Order::of(&bindings[second..]));
            let mut sorted = bindings;
            order.sort(&mut sorted);
            prop_assert!(sorted == expected, "{sorted:?}");
        }
    }
}
