//! Enumerations of clusters and bindings, with their Kubernetes spellings and ABI codes.
//!
//! Each concept has one enumeration, which manifests and plugins share. The manifest reader keeps unknown words as
//! text; the ABI has a code for "unknown" where a decision depends on it.

use std::fmt::Debug;

use divvy_framework_abi::arena::{condition, effect};
use divvy_framework_abi::row::{expression_operator, expression_source, spread_field, toleration_operator};

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

/// Declares an enumeration as [`words!`] does, each variant with its ABI code; an unknown code reads as `$other`.
macro_rules! coded_words {
    (
        $(#[$meta:meta])*
        $name:ident, expecting $expected:literal, otherwise $other:ident {
            $( $(#[$word_meta:meta])* $variant:ident = $word:literal => $code:expr, )+
        } $( beside {
            $( $(#[$beside_meta:meta])* $beside:ident => $beside_code:expr, )+
        } )?
    ) => {
        words! {
            $(#[$meta])*
            $name, expecting $expected {
                $( $(#[$word_meta])* $variant = $word, )+
            } $( beside {
                $( $(#[$beside_meta])* $beside, )+
            } )?
        }

        impl $name {
            /// ABI code of the variant.
            #[inline]
            pub fn code(self) -> u32 {
                match self {
                    $( Self::$variant => $code, )+
                    $( $( Self::$beside => $beside_code, )+ )?
                }
            }

            /// The variant with that ABI code.
            #[inline]
            pub fn from_code(code: u32) -> Self {
                $( if code == $code {
                    return Self::$variant;
                } )+
                $( $( if code == $beside_code {
                    return Self::$beside;
                } )+ )?
                Self::$other
            }
        }
    };
}

coded_words! {
    /// The effect of a taint, or of a toleration.
    #[non_exhaustive]
    TaintEffect, expecting "a taint effect", otherwise Unknown {
        /// Nothing new is scheduled to the cluster.
        NoSchedule = "NoSchedule" => effect::NO_SCHEDULE,
        /// Nothing new is scheduled to the cluster unless unavoidable.
        PreferNoSchedule = "PreferNoSchedule" => effect::PREFER_NO_SCHEDULE,
        /// Nothing new is scheduled to the cluster, and running workloads are evicted.
        NoExecute = "NoExecute" => effect::NO_EXECUTE,
    } beside {
        /// Every effect; only tolerations use it.
        Any => effect::ANY,
        /// An effect that Kubernetes does not define.
        Unknown => effect::UNKNOWN,
    }
}

coded_words! {
    /// The operator of a toleration.
    #[non_exhaustive]
    TolerationOperator, expecting "a toleration operator", otherwise Unknown {
        /// Key and value are equal; the default.
        Equal = "Equal" => toleration_operator::EQUAL,
        /// The key is present, with any value.
        Exists = "Exists" => toleration_operator::EXISTS,
    } beside {
        /// An unknown operator, which tolerates nothing.
        Unknown => toleration_operator::UNKNOWN,
    }
}

coded_words! {
    /// The status of a condition.
    #[non_exhaustive]
    ConditionStatus, expecting "a status of a condition", otherwise Unknown {
        /// The condition holds.
        True = "True" => condition::TRUE,
        /// The condition does not hold.
        False = "False" => condition::FALSE,
        /// Its state is unknown.
        Unknown = "Unknown" => condition::UNKNOWN,
    }
}

coded_words! {
    /// The cluster property that a spread constraint groups by.
    #[non_exhaustive]
    SpreadField, expecting "a field to spread by", otherwise Unknown {
        /// Every cluster is a group of its own.
        Cluster = "cluster" => spread_field::CLUSTER,
        /// Group by region.
        Region = "region" => spread_field::REGION,
        /// Group by zone.
        Zone = "zone" => spread_field::ZONE,
        /// Group by provider.
        Provider = "provider" => spread_field::PROVIDER,
    } beside {
        /// Group by the value of the label that the constraint names.
        Label => spread_field::LABEL,
        /// A field that this version does not know. A plugin that must group clusters by it returns an error.
        Unknown => spread_field::UNKNOWN,
    }
}

coded_words! {
    /// The cluster field that a field selector tests.
    #[non_exhaustive]
    SelectorField, expecting "a field of a cluster", otherwise Unknown {
        /// The provider.
        Provider = "provider" => expression_source::PROVIDER,
        /// The region.
        Region = "region" => expression_source::REGION,
        /// The zones.
        Zone = "zone" => expression_source::ZONE,
    } beside {
        /// A field that no cluster has.
        Unknown => expression_source::NOTHING,
    }
}

coded_words! {
    /// The operator of an expression in a selector.
    #[non_exhaustive]
    SelectorOperator, expecting "a selector operator", otherwise Unknown {
        /// The value is one of the listed values.
        In = "In" => expression_operator::IN,
        /// The value is absent or none of the listed values.
        NotIn = "NotIn" => expression_operator::NOT_IN,
        /// The key is present.
        Exists = "Exists" => expression_operator::EXISTS,
        /// The key is absent.
        DoesNotExist = "DoesNotExist" => expression_operator::DOES_NOT_EXIST,
        /// The value is an integer above the first listed value. Kubernetes allows it only for nodes.
        Gt = "Gt" => expression_operator::GREATER_THAN,
        /// The value is an integer below the first listed value. Kubernetes allows it only for nodes.
        Lt = "Lt" => expression_operator::LESS_THAN,
    } beside {
        /// An unknown operator, which matches nothing.
        Unknown => expression_operator::UNKNOWN,
    }
}
