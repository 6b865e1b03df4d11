//! Descriptors of a library's plugins, made at compile time.

use divvy_framework_abi::descriptor::{Descriptor, Library, PointDescriptor, limit};
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::{LEAST_MINOR, PluginText, Pointer, Slice};

use crate::plugin::Needs;

/// The descriptor of a point with these needs.
pub const fn point(kind: u32, needs: Needs) -> PointDescriptor {
    PointDescriptor {
        point: kind,
        required: needs.required(),
        optional: needs.optional(),
        ..PointDescriptor::DEFAULT
    }
}

/// The minor version of the ABI in which an extension point appeared; `None` if calls of this kind are no extension point.
const fn first_minor(kind: u32) -> Option<u32> {
    match kind {
        kind::FILTER | kind::SCORE | kind::SELECT | kind::ASSIGN => Some(LEAST_MINOR),
        kind::PACE => Some(1),
        _ => None,
    }
}

/// The least minor version of a host with which a plugin that serves these points works: the first one that knows one of its
/// extension points. A host ignores the others.
pub const fn least_minor(points: &'static [Pointer<'static, PointDescriptor>]) -> u32 {
    let mut least = None;
    let mut number = 0;
    while number < points.len() {
        // SAFETY: the pointers of the export macro are those of constants.
        let kind = unsafe { (*points[number].address()).point };
        least = match (least, first_minor(kind)) {
            (Some(known), Some(first)) if known < first => Some(known),
            (known, None) => known,
            (_, first) => first,
        };
        number += 1;
    }
    match least {
        Some(least) => least,
        None => LEAST_MINOR,
    }
}

/// The union of the needs of several points.
pub const fn all_needs(points: &'static [Needs]) -> Needs {
    Needs::all(points)
}

/// The description of a plugin. A description that the host would refuse does not compile.
pub const fn description(text: &'static str) -> PluginText<'static> {
    assert!(
        text.len() <= limit::DESCRIPTION_BYTES as usize,
        "the description of a plugin has more than 1,024 bytes"
    );
    PluginText::new(text)
}

/// The addresses of the elements of a table.
pub const fn pointers<T, const N: usize>(table: &'static [T; N]) -> [Pointer<'static, T>; N] {
    let mut pointers = [Pointer::NULL; N];
    let mut number = 0;
    while number < N {
        pointers[number] = Pointer::new(&table[number]);
        number += 1;
    }
    pointers
}

/// The library with these plugins.
pub const fn library(plugins: &'static [Pointer<'static, Descriptor>]) -> Library {
    assert!(
        plugins.len() <= limit::PLUGINS as usize,
        "a library exports more than 256 plugins"
    );
    Library {
        plugins: Slice::new(plugins),
        ..Library::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_works_with_every_host_that_knows_one_of_its_extension_points() {
        const FILTER: &PointDescriptor = &point(kind::FILTER, Needs::NONE);
        const PACE: &PointDescriptor = &point(kind::PACE, Needs::NONE);
        const VALUE: &PointDescriptor = &point(kind::BINDING_VALUE, Needs::NONE);
        const BOTH: &[Pointer<'static, PointDescriptor>] = &[Pointer::new(PACE), Pointer::new(FILTER)];
        const PACE_ALONE: &[Pointer<'static, PointDescriptor>] = &[Pointer::new(VALUE), Pointer::new(PACE)];
        assert_eq!(least_minor(BOTH), 0);
        assert_eq!(least_minor(PACE_ALONE), 1);
        assert_eq!(least_minor(&[]), LEAST_MINOR);
    }
}
