//! Enumerations of clusters and bindings: their variants, Kubernetes' words and the ABI's codes.
//!
//! One enumeration per idea. A reader of manifests keeps a word that is not known beside them, the ABI has a code for it
//! where a decision depends on it.

use std::fmt::Debug;

use divvy_framework_abi::arena::{condition, effect};
use divvy_framework_abi::call::{expression_operator, expression_source, spread_field, toleration_operator};

/// An enumeration that Kubernetes writes as words.
pub trait Word: Copy + Eq + Debug + 'static {
    /// A noun phrase for messages, such as "a taint effect".
    const EXPECTED: &'static str;
    /// Every word, in the order of the API's documentation.
    const KNOWN: &'static [&'static str];

    /// The variant that Kubernetes writes as `word`.
    fn named(word: &str) -> Option<Self>;

    /// The word; empty for a variant that Kubernetes does not write.
    fn word(self) -> &'static str;
}

/// Declares an enumeration and its [`Word`]s. Variants behind `beside` have no word.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident, expecting $expected:literal {
            $( $(#[$word_meta:meta])* $variant:ident = $word:literal, )+
        } $( beside {
            $( $(#[$beside_meta:meta])* $beside:ident, )+
        } )?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$word_meta])* $variant, )+
            $( $( $(#[$beside_meta])* $beside, )+ )?
        }

        impl $name {
            /// The variant that Kubernetes writes as `word`.
            pub fn named(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )+
                    _ => None,
                }
            }

            /// The word; empty for a variant that Kubernetes does not write.
            pub fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                    $( $( Self::$beside => "", )+ )?
                }
            }
        }

        impl $crate::words::Word for $name {
            const EXPECTED: &'static str = $expected;
            const KNOWN: &'static [&'static str] = &[$($word),+];

            fn named(word: &str) -> Option<Self> {
                Self::named(word)
            }

            fn word(self) -> &'static str {
                self.word()
            }
        }
    };
}

/// Gives an enumeration its codes of the ABI; a code that is not known reads as `$other`.
macro_rules! codes {
    ($name:ident { $( $variant:ident = $code:expr, )+ } otherwise $other:ident) => {
        impl $name {
            /// The code in the ABI.
            #[inline]
            pub fn code(self) -> u32 {
                match self {
                    $( Self::$variant => $code, )+
                }
            }

            /// The variant of a code in the ABI.
            #[inline]
            pub fn from_code(code: u32) -> Self {
                $( if code == $code {
                    return Self::$variant;
                } )+
                Self::$other
            }
        }
    };
}

words! {
    /// The effect of a taint, or of a toleration.
    TaintEffect, expecting "a taint effect" {
        /// Nothing new is scheduled there.
        NoSchedule = "NoSchedule",
        /// Nothing new is scheduled there where it can be avoided.
        PreferNoSchedule = "PreferNoSchedule",
        /// Nothing new is scheduled there, and what runs there is evicted.
        NoExecute = "NoExecute",
    } beside {
        /// Every effect; of tolerations alone.
        Any,
        /// An effect that Kubernetes does not define.
        Unknown,
    }
}

codes! {
    TaintEffect {
        NoSchedule = effect::NO_SCHEDULE,
        PreferNoSchedule = effect::PREFER_NO_SCHEDULE,
        NoExecute = effect::NO_EXECUTE,
        Any = effect::ANY,
        Unknown = effect::UNKNOWN,
    } otherwise Unknown
}

words! {
    /// The operator of a toleration.
    TolerationOperator, expecting "a toleration operator" {
        /// Key and value are equal; the default.
        Equal = "Equal",
        /// The key is there, whatever its value.
        Exists = "Exists",
    } beside {
        /// An operator that tolerates nothing here.
        Unknown,
    }
}

codes! {
    TolerationOperator {
        Equal = toleration_operator::EQUAL,
        Exists = toleration_operator::EXISTS,
        Unknown = toleration_operator::UNKNOWN,
    } otherwise Unknown
}

words! {
    /// The status of a condition.
    ConditionStatus, expecting "a status of a condition" {
        /// It holds.
        True = "True",
        /// It does not hold.
        False = "False",
        /// It is not known whether it holds.
        Unknown = "Unknown",
    }
}

codes! {
    ConditionStatus {
        True = condition::TRUE,
        False = condition::FALSE,
        Unknown = condition::UNKNOWN,
    } otherwise Unknown
}

words! {
    /// The field of a cluster by which a spread constraint groups.
    SpreadField, expecting "a field to spread by" {
        /// Each cluster is a group.
        Cluster = "cluster",
        /// By region.
        Region = "region",
        /// By zone.
        Zone = "zone",
        /// By provider.
        Provider = "provider",
    } beside {
        /// By the value of a label, whose key the constraint names.
        Label,
    }
}

codes! {
    SpreadField {
        Cluster = spread_field::CLUSTER,
        Region = spread_field::REGION,
        Zone = spread_field::ZONE,
        Provider = spread_field::PROVIDER,
        Label = spread_field::LABEL,
    } otherwise Label
}

words! {
    /// The field of a cluster that a field selector looks at.
    SelectorField, expecting "a field of a cluster" {
        /// The provider.
        Provider = "provider",
        /// The region.
        Region = "region",
        /// The zones.
        Zone = "zone",
    } beside {
        /// A field that no cluster has.
        Unknown,
    }
}

impl SelectorField {
    /// The code in the ABI.
    #[inline]
    pub fn code(self) -> u32 {
        match self {
            Self::Provider => expression_source::PROVIDER,
            Self::Region => expression_source::REGION,
            Self::Zone => expression_source::ZONE,
            Self::Unknown => expression_source::NOTHING,
        }
    }
}

words! {
    /// The operator of an expression in a selector.
    SelectorOperator, expecting "a selector operator" {
        /// One of the values.
        In = "In",
        /// None of the values, or absent.
        NotIn = "NotIn",
        /// Present.
        Exists = "Exists",
        /// Absent.
        DoesNotExist = "DoesNotExist",
        /// An integer above the first value. Kubernetes allows it for nodes alone.
        Gt = "Gt",
        /// An integer below the first value. Kubernetes allows it for nodes alone.
        Lt = "Lt",
    } beside {
        /// An operator that nothing matches.
        Unknown,
    }
}

codes! {
    SelectorOperator {
        In = expression_operator::IN,
        NotIn = expression_operator::NOT_IN,
        Exists = expression_operator::EXISTS,
        DoesNotExist = expression_operator::DOES_NOT_EXIST,
        Gt = expression_operator::GREATER_THAN,
        Lt = expression_operator::LESS_THAN,
        Unknown = expression_operator::UNKNOWN,
    } otherwise Unknown
}
