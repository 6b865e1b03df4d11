//! Enumerations of clusters and bindings, with their Kubernetes spellings and ABI codes.
//!
//! Each concept has one enumeration, which manifests and plugins share. The manifest reader keeps unknown words as
//! text; the ABI has a code for "unknown" where a decision depends on it.

use std::fmt::Debug;

use divvy_framework_abi::arena::{condition, effect};
use divvy_framework_abi::call::{expression_operator, expression_source, spread_field, toleration_operator};

/// An enumeration that Kubernetes writes as words.
pub trait Word: Copy + Eq + Debug + 'static {
    /// A noun phrase for messages, such as "a taint effect".
    const EXPECTED: &'static str;
    /// Every word, in the order of the API's documentation.
    const KNOWN: &'static [&'static str];

    /// The variant that Kubernetes writes as `word`; `None` for an unknown word.
    fn named(word: &str) -> Option<Self>;

    /// The word; empty for a variant that Kubernetes does not write.
    fn word(self) -> &'static str;
}

/// Declares an enumeration and its [`Word`] implementation. Variants under `beside` have no Kubernetes spelling.
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
            /// The variant that Kubernetes writes as `word`; `None` for an unknown word.
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

/// Maps an enumeration to its ABI codes; an unknown code reads as `$other`.
macro_rules! codes {
    ($name:ident { $( $variant:ident = $code:expr, )+ } otherwise $other:ident) => {
        impl $name {
            /// ABI code of the variant.
            #[inline]
            pub fn code(self) -> u32 {
                match self {
                    $( Self::$variant => $code, )+
                }
            }

            /// The variant with that ABI code.
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
        /// Nothing new is scheduled to the cluster.
        NoSchedule = "NoSchedule",
        /// Nothing new is scheduled to the cluster if it can be avoided.
        PreferNoSchedule = "PreferNoSchedule",
        /// Nothing new is scheduled to the cluster, and running workloads are evicted.
        NoExecute = "NoExecute",
    } beside {
        /// Every effect; only tolerations use it.
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
        /// The key is present, whatever its value.
        Exists = "Exists",
    } beside {
        /// An unknown operator, which tolerates nothing.
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
        /// The condition holds.
        True = "True",
        /// The condition does not hold.
        False = "False",
        /// Its state is not known.
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
    /// The cluster property that a spread constraint groups by.
    SpreadField, expecting "a field to spread by" {
        /// Every cluster is a group of its own.
        Cluster = "cluster",
        /// Group by region.
        Region = "region",
        /// Group by zone.
        Zone = "zone",
        /// Group by provider.
        Provider = "provider",
    } beside {
        /// Group by the value of the label that the constraint names.
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
    /// The cluster field that a field selector tests.
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
    /// ABI code of the field.
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
        /// The value is one of the listed values.
        In = "In",
        /// The value is absent or none of the listed values.
        NotIn = "NotIn",
        /// The key is present.
        Exists = "Exists",
        /// The key is absent.
        DoesNotExist = "DoesNotExist",
        /// The value is an integer above the first listed value. Kubernetes allows it only for nodes.
        Gt = "Gt",
        /// The value is an integer below the first listed value. Kubernetes allows it only for nodes.
        Lt = "Lt",
    } beside {
        /// An unknown operator, which matches nothing.
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
