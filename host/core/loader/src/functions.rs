//! The functions of an opened plugin, its tables, and the documents that it hands over.

use std::ffi::c_void;
use std::path::Path;

use divvy_attribution::Site;
use divvy_framework_abi::call::CallFunction;
use divvy_framework_abi::descriptor::Descriptor;
use divvy_framework_abi::service::{
    ConstructFunction, DescribeCall, DescribeFunction, DestroyFunction, document, limit,
};
use divvy_framework_abi::sized::SizePrefixed;
use divvy_framework_abi::{Address, Function, PluginText, Pointer, Slice};

use crate::error::LoadError;

/// The functions of a plugin.
#[derive(Debug, Clone, Copy)]
pub struct Functions {
    /// Makes an instance.
    pub construct: ConstructFunction,
    /// Drops an instance.
    pub destroy: DestroyFunction,
    /// Answers the calls of an instance.
    pub call: CallFunction,
    describe: Option<DescribeFunction>,
}

/// Reads a table of structs that can grow; `None` if one of them is of another kind.
pub(crate) fn read_table<T: SizePrefixed>(table: &Slice<'static, Pointer<'static, T>>) -> Option<Vec<T>> {
    let read = |pointer: &Pointer<'static, T>| {
        // SAFETY: a descriptor points to static data of its library. Libraries are never closed, and `descriptors` has checked each
        // address and length in the file before the library was opened.
        unsafe { T::read(pointer.address()) }
    };
    table.as_slice().iter().map(read).collect()
}

/// Maximum length of the documents of a kind together, in bytes.
const DOCUMENTS_BYTES: u64 = 16 << 20;

/// Documents that a plugin has handed over.
#[derive(Default)]
pub(crate) struct Documents {
    taken: Vec<String>,
    /// Bytes of those.
    bytes: u64,
    /// The first limit that is exceeded, with its unit, and the number that exceeds it.
    excess: Option<(String, u64)>,
}

impl Documents {
    /// Takes a document unless a limit is exceeded.
    pub(crate) fn take(&mut self, text: PluginText<'_>) {
        let bytes = text.bytes().len() as u64;
        let number = self.taken.len() as u64 + 1;
        if bytes > u64::from(limit::DOCUMENT_BYTES) {
            let expected = || (format!("{} bytes", limit::DOCUMENT_BYTES), bytes);
            self.excess.get_or_insert_with(expected);
        } else if number > u64::from(limit::DOCUMENTS) {
            let expected = || (format!("{} documents", limit::DOCUMENTS), number);
            self.excess.get_or_insert_with(expected);
        } else if self.bytes + bytes > DOCUMENTS_BYTES {
            let expected = || (format!("{DOCUMENTS_BYTES} bytes together"), self.bytes + bytes);
            self.excess.get_or_insert_with(expected);
        } else {
            self.bytes += bytes;
            self.taken.push(text.read().into_owned());
        }
    }

    /// The documents, of a kind of [`document`], unless they exceed a limit.
    pub(crate) fn within_limits(self, document: u32, plugin: &str, path: &Path) -> Result<Vec<String>, LoadError> {
        match self.excess {
            None => Ok(self.taken),
            Some((expected, actual)) => Err(LoadError::TooMuchHandedOver {
                plugin: plugin.to_owned(),
                path: path.to_owned(),
                documents: match document {
                    document::CONFIGURATION_SCHEMA => "schema of its configuration",
                    document::PREFERENCES_SCHEMA => "schema of its preferences",
                    document::RULE_LISTS => "lists of a policy",
                    _ => "tables",
                },
                expected,
                actual,
            }),
        }
    }
}

impl Functions {
    /// The functions of a descriptor; `None` if it lacks one that every plugin has.
    pub(crate) fn read(descriptor: &Descriptor) -> Option<Self> {
        Some(Self {
            construct: descriptor.construct.get()?,
            destroy: descriptor.destroy.get()?,
            call: descriptor.call.get()?,
            describe: descriptor.describe.get(),
        })
    }

    /// The documents of a kind of [`document`] as the plugin hands them over; none if it has none.
    fn handed_over(&self, document: u32, plugin: &str) -> Documents {
        unsafe extern "C" fn take(sink: *const c_void, text: PluginText<'_>) {
            // SAFETY: the sink is `taken` below. The contract lets a plugin use it only during the call, which `taken` outlives.
            let documents = unsafe { &*sink.cast::<std::cell::RefCell<Documents>>() };
            if let Ok(mut documents) = documents.try_borrow_mut() {
                documents.take(text);
            }
        }
        let Some(describe) = self.describe else {
            return Documents::default();
        };
        let taken = std::cell::RefCell::new(Documents::default());
        let call = DescribeCall {
            document,
            sink: Address::of(&taken),
            take: Function::new(take),
            ..DescribeCall::DEFAULT
        };
        let marked = Site::new(plugin, "its description").enter();
        // SAFETY: `describe` comes from the descriptor of a library that stays open, so it is a function of this type; the call and
        // the sink in it outlive the call.
        let code = unsafe { describe(&raw const call) };
        drop(marked);
        match code {
            0 => taken.into_inner(),
            _ => Documents::default(),
        }
    }

    /// The documents of a kind of [`document`], unless they exceed a limit; none if the plugin has none.
    pub(crate) fn documents(&self, document: u32, plugin: &str, path: &Path) -> Result<Vec<String>, LoadError> {
        self.handed_over(document, plugin).within_limits(document, plugin, path)
    }
}
